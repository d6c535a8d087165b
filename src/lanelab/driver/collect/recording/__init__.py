"""Recording a page: what every server sent to the browser, byte by byte. docs/reference/recording.md is for users.

netlog.py      the browser's log of its network -> the bytes of each connection, and the requests     pure
http1.py       the bytes of a connection -> its messages                                               pure
http2.py       the same for HTTP/2                                                                     pure
exchanges.py   messages of all connections -> what a site is made of, and what could not be had        pure
message.py     one message, whichever protocol carried it                                               pure
page_activity.py   the page's events -> whether anything is under way                                  pure
page.py, record.py, this_machine.py      the browser that is led through a page
"""
