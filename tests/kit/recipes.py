"""Recipes of sites for tests."""

EVERYTHING = """
title: Everything that a recipe can say
host: all.test
page: {size: 14000, noise: 3%, markup: 20%}
objects:
  - {type: css, name: style, size: 3000, count: 2}
  - {type: css, name: imported, size: 900, from: style, chain: on, count: 2}
  - {type: font, size: 12001, from: style, host: fonts.all.test}
  - {type: image, name: back, from: imported, count: 3, total: 6001, format: gif}
  - {type: image, name: photo, count: 5, median: 20000, spread: 0.8, format: jpeg, hosts: "i1.all.test, i2.all.test"}
  - {type: image, name: webp, count: 2, total: 9000, spread: 0.4, format: webp}
  - {type: image, name: icon, sizes: "900, 901, 950", width: 16, height: 16, metadata: 50%}
  - {type: script, name: lib, count: 2, total: 30000, host: js.all.test, noise: 5%}
  - {type: script, name: app, size: 4000, place: body, mode: defer}
  - {type: image, name: found, from: app, size: 5000, think: 30ms}
  - {type: image, name: waited, from: app, size: 5000, after: 200ms}
  - {type: script, name: chain, from: app, size: 2500, count: 3, chain: on}
  - {type: data, from: app, size: 700}
  - {type: image, name: beacon, from: chain, size: 300, late: on, format: gif, width: 1, height: 1}
  - {type: module, name: mod, size: 2500}
  - {type: module, name: dep, from: mod, size: 1500, count: 4, chain: on}
  - {type: frame, size: 2500, host: ads.all.test}
  - {type: image, name: ad, from: frame, size: 4000}
"""
