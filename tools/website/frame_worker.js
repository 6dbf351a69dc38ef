// SPDX-License-Identifier: Apache-2.0
// A page from the disk may not start a worker: this one runs its script in a hidden frame. The search of the site needs no more.
if (location.protocol === "file:") window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    this.frame.srcdoc = `<script>self.postMessage = (data) => frameElement.answer(data);</script><script src="${url}"></script>`;
    this.frame.answer = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    this.ready = new Promise((resolve) => this.frame.addEventListener("load", resolve, { once: true }));
    document.body.append(this.frame);
  }
  postMessage(data) {
    this.ready.then(() => {
      const inside = this.frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    });
  }
  terminate() {
    this.frame.remove();
  }
};
