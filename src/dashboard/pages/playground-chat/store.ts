// Conversations in the browser's own database. Nothing of them is sent anywhere but to the models.

import { type Conversation, titleOf, withoutRunning } from "./conversation.ts";

export interface ConversationSummary {
  readonly id: string;
  readonly owner: string;
  readonly title: string;
  readonly models: readonly string[];
  readonly updatedAt: number;
  /** About as large as it is on disk. */
  readonly bytes: number;
}

const databaseName = "switchyard-playground";
/** Of one person. The oldest are removed first. */
const maxConversations = 50;
const maxBytes = 200_000_000;

interface Stores {
  readonly conversations: IDBObjectStore;
  /** Beside the conversations, so that the list is read without their files. */
  readonly summaries: IDBObjectStore;
}

async function inStores<Result>(mode: IDBTransactionMode, work: (stores: Stores) => Promise<Result>): Promise<Result> {
  const request = indexedDB.open(databaseName, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore("conversations", { keyPath: "id" });
    request.result.createObjectStore("summaries", { keyPath: "id" }).createIndex("owner", "owner");
  };
  const database = await toPromise(request);
  try {
    const transaction = database.transaction(["conversations", "summaries"], mode);
    const ended = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    const [result] = await Promise.all([
      work({
        conversations: transaction.objectStore("conversations"),
        summaries: transaction.objectStore("summaries"),
      }),
      ended,
    ]);
    return result;
  } finally {
    database.close();
  }
}

function toPromise<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export function saveConversation(conversation: Conversation): Promise<void> {
  const { id, owner, updatedAt, columns } = conversation;
  const summary: ConversationSummary = {
    id,
    owner,
    updatedAt,
    title: titleOf(conversation),
    models: columns.map(({ model }) => model),
    bytes: estimateBytes(conversation),
  };
  return inStores("readwrite", async ({ conversations, summaries }) => {
    conversations.put(conversation);
    summaries.put(summary);
    let total = 0;
    for (const [index, kept] of (await listSummaries(summaries, owner)).entries()) {
      total += kept.bytes;
      if (kept.id === id || (index < maxConversations && total <= maxBytes)) continue;
      conversations.delete(kept.id);
      summaries.delete(kept.id);
    }
  });
}

/** Without the files written out: they are large, and their size is known. */
function estimateBytes({ turns, settings }: Conversation): number {
  const sizes = turns.map(({ text, answers, attachments }) => {
    const files = attachments.reduce((sum, { dataUrl }) => sum + dataUrl.length, 0);
    return files + JSON.stringify([text, answers]).length;
  });
  return sizes.reduce((sum, size) => sum + size, JSON.stringify(settings).length);
}

/** Null: unknown, or of another person. */
export async function readConversation(id: string, owner: string): Promise<Conversation | null> {
  const found = await inStores("readonly", ({ conversations }) =>
    toPromise<Conversation | undefined>(conversations.get(id)),
  );
  return found === undefined || found.owner !== owner ? null : withoutRunning(found);
}

/** The newest first. */
export function listConversations(owner: string): Promise<ConversationSummary[]> {
  return inStores("readonly", ({ summaries }) => listSummaries(summaries, owner));
}

export function deleteConversation(id: string): Promise<void> {
  return inStores("readwrite", async ({ conversations, summaries }) => {
    conversations.delete(id);
    summaries.delete(id);
  });
}

async function listSummaries(summaries: IDBObjectStore, owner: string): Promise<ConversationSummary[]> {
  const found = await toPromise<ConversationSummary[]>(summaries.index("owner").getAll(owner));
  return found.toSorted((one, other) => other.updatedAt - one.updatedAt);
}
