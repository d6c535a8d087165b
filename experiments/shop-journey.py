"""What a customer of the site small-shop does: log in, search, and scroll through a list that loads more of itself.

`driver`, `step`, `url` and `pages` are given: docs/reference/journeys.md, Scripts.
"""

import time

from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

GOODS = 12  # in the whole list


def there(selector, many=1):
    """Wait until so many elements are there, and all pictures have come."""
    shown = (
        "return document.querySelectorAll(arguments[0]).length >= arguments[1]"
        " && [...document.images].every(image => image.complete)"
    )
    WebDriverWait(driver, 20, poll_frequency=0.02).until(lambda _: driver.execute_script(shown, selector, many))


with step("home"):
    driver.get(url)

time.sleep(2)  # the customer types
driver.find_element(By.NAME, "user").send_keys("ada")
driver.find_element(By.NAME, "password").send_keys("lovelace")
with step("login"):
    driver.find_element(By.TAG_NAME, "button").click()
    there("[name=q]")  # a click may return before the page that it leads to has begun

time.sleep(1)
driver.find_element(By.NAME, "q").send_keys("lamp")
with step("search"):
    driver.find_element(By.TAG_NAME, "button").click()
    there(".found", 3)

time.sleep(1)
with step("goods"):
    driver.find_element(By.LINK_TEXT, "All goods").click()
    there(".thing")

time.sleep(1)
with step("scroll"):
    while len(driver.find_elements(By.CSS_SELECTOR, ".thing")) < GOODS:
        driver.execute_script("scrollTo(0, document.body.scrollHeight)")
        time.sleep(0.02)
    there(".thing", GOODS)
