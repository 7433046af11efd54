// Browsers start no workers for a page that was opened from a file. The search of the documentation, which is
// a worker, then runs in a frame that is not seen: a window that gets messages and sends them as a worker does.
if (location.protocol === "file:")
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.addEventListener("load", () => resolve(inside));
        script.addEventListener("error", reject);
        script.src = url;
        inside.document.body.append(script);
      });
    }

    postMessage(data) {
      this.ready.then(inside => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
