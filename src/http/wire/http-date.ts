/** The time as HTTP writes it. It is asked for with every answer and changes once a second. */
export class HttpDate {
  #second = 0;
  #text = "";

  now(): string {
    const second = Math.floor(Date.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1_000).toUTCString();
    }
    return this.#text;
  }
}
