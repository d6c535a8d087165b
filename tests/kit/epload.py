"""A dependency graph as Epload has it, and a folder with it and its objects."""

import json
from pathlib import Path
from typing import Any

GRAPH: dict[str, Any] = {
    "name": "three",
    "objs": [
        {"id": "r2", "host": "js.test", "path": "/a.js", "when_comp_start": -1,
         "download": {"id": "r2_d", "type": "download"}, "comps": [{"id": "r2_c1", "type": "evaljs", "time": 50.5}]},
        {"id": "r1", "host": "WWW.test", "path": "/page.html", "when_comp_start": 1,
         "download": {"id": "r1_d", "type": "download"},
         "comps": [{"id": "r1_c1", "type": "evalhtml", "time": 500}, {"id": "r1_c2", "type": "evalhtml", "time": 7}]},
        {"id": "r3", "host": "www.test", "path": "/c.png", "when_comp_start": -1,
         "download": {"id": "r3_d", "type": "download"}, "comps": []},
    ],
    "deps": [
        {"id": "dep1", "a1": "r1_c1", "a2": "r2_d", "time": 300},
        {"id": "dep2", "a1": "r2_c1", "a2": "r1_c2", "time": -1},
        {"id": "dep3", "a1": "r1_c2", "a2": "r3_d", "time": 0},
    ],
    "start_activity": "r1_d", "load_activity": "r3_d",
}  # fmt: skip


def written(folder: Path, graph: object = GRAPH, page: int = 5000) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "graph.json").write_text(json.dumps(graph))
    (folder / "www.test").mkdir()
    (folder / "www.test" / "page.html").write_bytes(b"p" * page)
    (folder / "www.test" / "c.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"c" * 92)
    (folder / "a.js").write_bytes(b"a();" * 20)
    return folder
