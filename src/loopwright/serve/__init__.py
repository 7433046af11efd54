"""The playground: `loopwright serve` answers a page in the browser, each question in a process of its own."""
