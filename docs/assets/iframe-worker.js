// Search from a file: a browser starts no worker of a page that it has opened from disk, so the search's script runs in a
// hidden frame instead. Pages from a server keep the browser's workers.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.url = new URL(url, document.baseURI).href;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => {
        const start = () => {
          document.body.appendChild(this.frame);
          const inside = this.frame.contentWindow;
          inside.document.open();
          inside.document.close();
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          inside.importScripts = (...urls) =>
            urls.reduce((before, next) => before.then(() => this.load(new URL(next, this.url).href)), Promise.resolve());
          this.load(this.url).then(() => resolve(inside));
        };
        if (document.body) start();
        else addEventListener("DOMContentLoaded", start);
      });
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const inside = this.frame.contentWindow.document;
        const script = inside.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = () => reject(new Error(`cannot load ${url}`));
        inside.head.appendChild(script);
      });
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
