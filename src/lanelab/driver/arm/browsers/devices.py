"""Well-known devices, as servers and pages see them: what the browser says it is, the view it has, and how much slower
its processor is than that of the machine at hand."""

from dataclasses import dataclass

from lanelab.driver.base.errors import InputError


@dataclass(frozen=True, slots=True)
class Device:
    name: str
    title: str
    user_agent: str | None  # None: the browser's own
    viewport: tuple[int, int]  # in CSS pixels
    pixel_ratio: float = 1.0
    touch: bool = False
    cpu_slowdown: float = 1.0
    why: str = ""  # where the slowdown is from


# Chromium's DevTools call 4 "mid-tier mobile" and 6 "low-tier mobile"; Lighthouse loads pages for phones with 4. What a
# real device is to the machine at hand only the measured factor of a trial tells.
MID_TIER, LOW_TIER = 4.0, 6.0
_MID, _LOW = "DevTools: mid-tier mobile", "DevTools: low-tier mobile"
_IE = "Mozilla/5.0 (compatible; MSIE 9.0; Windows Phone OS 7.5; Trident/5.0; IEMobile/9.0; NOKIA; Lumia {})"
_ANDROID = "Mozilla/5.0 (Linux; {}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 {}Safari/537.36"
_IOS = "Mozilla/5.0 ({}) AppleWebKit/{} (KHTML, like Gecko) Version/{} Mobile/{} Safari/{}"

# The phones of 2012 show pages at the width that their browsers gave to "device-width".
DEVICES = (
    Device("desktop", "a desk's screen; the browser's own name", None, (1366, 768)),
    Device("desktop-2012", "Windows 7, Chrome 20", "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/536.11 "
           "(KHTML, like Gecko) Chrome/20.0.1132.57 Safari/536.11", (1366, 768)),
    Device("lumia-900", "Nokia Lumia 900 of 2012, Internet Explorer 9 on Windows Phone 7.5", _IE.format(900),
           (320, 480), 1.5, touch=True, cpu_slowdown=LOW_TIER, why=_LOW),
    Device("galaxy-nexus-2012", "Galaxy Nexus of 2012, Chrome 18 on Android 4.0", "Mozilla/5.0 (Linux; Android 4.0.4; "
           "Galaxy Nexus Build/IMM76B) AppleWebKit/535.19 (KHTML, like Gecko) Chrome/18.0.1025.133 Mobile "
           "Safari/535.19", (360, 567), 2.0, touch=True, cpu_slowdown=LOW_TIER, why=_LOW),
    Device("iphone-4s", "iPhone 4S of 2012, Safari on iOS 5.1", _IOS.format(
        "iPhone; CPU iPhone OS 5_1_1 like Mac OS X", "534.46", "5.1", "9B206", "7534.48.3"), (320, 416), 2.0,
        touch=True, cpu_slowdown=LOW_TIER, why=_LOW),
    Device("pixel", "a current phone, Chrome on Android", _ANDROID.format("Android 10; K", 140, "Mobile "), (412, 823),
           2.625, touch=True, cpu_slowdown=MID_TIER, why=_MID),
    Device("moto-g-power", "the phone of Lighthouse's tests, Chrome on Android", _ANDROID.format(
        "Android 11; moto g power (2022)", 140, "Mobile "), (412, 823), 1.75, touch=True, cpu_slowdown=MID_TIER,
        why="Lighthouse's setting for phones"),
    Device("low-end-phone", "a cheap phone, Chrome on Android", _ANDROID.format("Android 10; K", 140, "Mobile "),
           (360, 640), 1.5, touch=True, cpu_slowdown=LOW_TIER, why=_LOW),
    Device("iphone", "a current phone, Safari on iOS", _IOS.format(
        "iPhone; CPU iPhone OS 18_5 like Mac OS X", "605.1.15", "18.5", "15E148", "604.1"), (393, 660), 3.0,
        touch=True),
    Device("tablet", "a current tablet, Chrome on Android", _ANDROID.format("Android 10; K", 140, ""), (800, 1135), 2.0,
           touch=True, cpu_slowdown=MID_TIER, why=_MID),
)  # fmt: skip
BY_NAME = {each.name: each for each in DEVICES}


def device_named(name: str) -> Device:
    try:
        return BY_NAME[name]
    except KeyError:
        raise InputError(f"there is no device {name!r}", f"Devices are {', '.join(BY_NAME)}", key="device") from None
