/** Questions that a process sends to its parent, which answers each with a message of the same id. */
export function createQuestions<Answer>(send: (id: number) => void, timeoutMs: number) {
  const waiting = new Map<number, (answer: Answer) => void>();
  let lastId = 0;
  return {
    receive(id: number, answer: Answer): void {
      waiting.get(id)?.(answer);
    },
    /** Null when the parent does not answer in time. */
    async ask(): Promise<Answer | null> {
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<Answer | null>();
      waiting.set(id, resolve);
      const timer = setTimeout(resolve, timeoutMs, null);
      send(id);
      const answer = await promise;
      clearTimeout(timer);
      waiting.delete(id);
      return answer;
    },
  };
}
