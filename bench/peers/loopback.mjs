// Loaded before a peer that can only listen on every interface: the bench opens nothing beyond this machine.

import { Server } from "node:net";

const listen = Server.prototype.listen;
Server.prototype.listen = function listenOnLoopback(target, ...rest) {
  const port = typeof target === "object" && target !== null ? target.port : target;
  const ready = rest.find((argument) => typeof argument === "function");
  return listen.call(this, { port, host: "127.0.0.1" }, ready);
};
