// Speech that vendors write down, over real HTTP: begun, asked for, and mapped, each step by an engine of its own. Answers are small and say where
// they come from: `documented` follows an example of the vendor's reference, `invented` has its form with values of ours.

import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { ValidationError } from "../../src/errors.ts";
import { amazon } from "../../src/providers/amazon/index.ts";
import { assembly } from "../../src/providers/assembly/index.ts";
import { deepgram } from "../../src/providers/deepgram/index.ts";
import { elevenlabs } from "../../src/providers/elevenlabs/index.ts";
import { gladia } from "../../src/providers/gladia/index.ts";
import { google } from "../../src/providers/google/index.ts";
import { microsoft } from "../../src/providers/microsoft/index.ts";
import { mistral } from "../../src/providers/mistral/index.ts";
import { openai } from "../../src/providers/openai/index.ts";
import { rejectionOf } from "../support/thrown.ts";
import { failureOf, jobId, pathsOf, runJob } from "./vendors-jobs/job.ts";
import { fileOf, key, type Seen } from "./vendors-others/ask.ts";

const sound = fileOf("talk.mp3", "audio/mpeg", Buffer.from("ID3 talk"));
const transcription = "audio/speech_to_text_async";
const spoken = (more: object = {}) => ({
  task: transcription,
  input: { file: "u", language: null, speakers: null, profanity_filter: false, ...more },
  files: { file: sound },
});

/** Storage answers with nothing at all. */
const stored = { bytes: Buffer.alloc(0), mediaType: "application/xml" };

const targetOf = ({ headers }: Seen) => headers.get("x-amz-target");

describe("speech to text", () => {
  test("assembly takes the file first, then the work, and tells who said what", async () => {
    const { output, seen, answer, waits } = await runJob({
      row: assembly,
      ...spoken({ language: "fr-CA", speakers: 2, vocabulary: ["Chihiro"], profanity_filter: true }),
      answers: [
        { json: { upload_url: "https://cdn.example/upload/1" } },
        { json: { id: "t1", status: "queued" } },
        { json: { id: "t1", status: "processing" } },
        // invented
        {
          json: {
            id: "t1",
            status: "completed",
            text: "Bonjour. Salut.",
            audio_duration: 3,
            utterances: [
              { speaker: "A", words: [{ text: "Bonjour.", start: 250, end: 900, confidence: 0.97, speaker: "A" }] },
              { speaker: "B", words: [{ text: "Salut.", start: 1200, end: 1900, confidence: 0.9, speaker: "B" }] },
            ],
          },
        },
      ],
    });
    expect(pathsOf(seen)).toEqual([
      "POST /v2/upload",
      "POST /v2/transcript",
      "GET /v2/transcript/t1",
      "GET /v2/transcript/t1",
    ]);
    expect(seen[0]?.text).toBe("ID3 talk");
    expect(seen[0]?.headers.get("authorization")).toBe(key);
    expect(seen[1]?.json).toEqual({
      audio_url: "https://cdn.example/upload/1",
      speech_models: ["universal-3-pro", "universal-2"],
      speaker_labels: true,
      speakers_expected: 2,
      filter_profanity: true,
      language_code: "fr",
      keyterms_prompt: ["Chihiro"],
    });
    expect(waits.length).toBe(2);
    expect(output["diarization"]).toEqual({
      total_speakers: 2,
      entries: [
        { segment: "Bonjour.", start_time: "0.25", end_time: "0.9", speaker: 1, confidence: 0.97 },
        { segment: "Salut.", start_time: "1.2", end_time: "1.9", speaker: 2, confidence: 0.9 },
      ],
      error_message: null,
    });
    expect(answer.units).toMatchObject({ second: 3 });
  });

  test("assembly uses the key of its other name, and detects the language when none is given", async () => {
    const { seen } = await runJob({
      row: assembly,
      ...spoken(),
      settings: { ASSEMBLY_API_KEY: undefined as never, ASSEMBLYAI_API_KEY: "shared" },
      answers: [{ json: { upload_url: "u" } }, { json: { id: "t1", status: "completed", text: "x" } }],
    });
    expect(seen[0]?.headers.get("authorization")).toBe("shared");
    expect(seen[1]?.json).toMatchObject({ language_detection: true });
  });

  test.each([
    ["en-GB", "en_uk"],
    ["en-US", "en_us"],
    ["en-NZ", "en"],
  ])("assembly is told %s as %s", async (language, code) => {
    const { seen } = await runJob({
      row: assembly,
      ...spoken({ language }),
      answers: [{ json: { upload_url: "u" } }, { json: { id: "t1", status: "completed", text: "x" } }],
    });
    expect(seen[1]?.json).toMatchObject({ language_code: code });
  });

  test("assembly's error is the job's", async () => {
    const failure = await failureOf({
      row: assembly,
      ...spoken(),
      answers: [
        { json: { upload_url: "u" } },
        { json: { id: "t1", status: "queued" } },
        { json: { id: "t1", status: "error", error: "Transcoding failed." } },
      ],
    });
    expect([failure.code, failure.message]).toEqual([
      "provider_rejected_request",
      "The provider 'assembly' rejected the request: Transcoding failed.",
    ]);
  });

  test("gladia takes the file first, then the work", async () => {
    const { output, seen } = await runJob({
      row: gladia,
      ...spoken({ language: "en-GB", speakers: 2 }),
      answers: [
        { json: { audio_url: "https://api.gladia.io/file/1" } },
        { json: { id: "g1", result_url: "https://elsewhere.example/g1" } },
        { json: { id: "g1", status: "processing" } },
        // invented
        {
          json: {
            status: "done",
            result: {
              metadata: { audio_duration: 2, billing_time: 4 },
              transcription: {
                full_transcript: "Hi.",
                utterances: [{ speaker: 0, words: [{ word: "Hi.", start: 0.1, end: 0.4, confidence: 0.8 }] }],
              },
            },
          },
        },
      ],
    });
    expect(pathsOf(seen)).toEqual([
      "POST /v2/upload",
      "POST /v2/pre-recorded",
      "GET /v2/pre-recorded/g1",
      "GET /v2/pre-recorded/g1",
    ]);
    expect(seen[0]?.form).toEqual({ audio: "talk.mp3 (audio/mpeg, 8 bytes)" });
    expect(seen[1]?.json).toMatchObject({
      audio_url: "https://api.gladia.io/file/1",
      diarization: true,
      diarization_config: { number_of_speakers: 2 },
      language_config: { languages: ["en"] },
    });
    expect(output["text"]).toBe("Hi.");
  });

  test("gladia's error has the status that it tells", async () => {
    const answers = [
      { json: { audio_url: "u" } },
      { json: { id: "g1" } },
      { json: { status: "error", error_code: 403 } },
    ];
    expect((await failureOf({ row: gladia, ...spoken(), answers })).code).toBe("provider_auth_failed");
  });

  test("deepgram answers at once, word by word", async () => {
    const { output, seen, answer } = await runJob({
      row: deepgram,
      ...spoken({ vocabulary: ["two words"] }),
      answers: [
        // invented
        {
          json: {
            metadata: { duration: 1.5 },
            results: {
              channels: [
                {
                  alternatives: [
                    {
                      transcript: "Hello there.",
                      words: [
                        { word: "hello", punctuated_word: "Hello", start: 0.1, end: 0.5, confidence: 0.99, speaker: 0 },
                        { word: "there", punctuated_word: "there.", start: 0.5, end: 0.9, confidence: 0.9, speaker: 1 },
                      ],
                    },
                  ],
                },
              ],
            },
          },
        },
      ],
    });
    expect(pathsOf(seen)).toEqual([
      "POST /v1/listen?keyterm=two%20words&model=nova-3&punctuate=true&diarize=true&profanity_filter=false&detect_language=true",
    ]);
    expect(output).toMatchObject({ text: "Hello there.", diarization: { total_speakers: 2 } });
    expect(answer.units).toMatchObject({ second: 1.5 });
  });

  test("openai answers at once, and tells speakers apart with the model that can", async () => {
    const plain = await runJob({
      row: openai,
      ...spoken({ language: "en-US", vocabulary: ["Claudia", "Chihiro"] }),
      answers: [{ json: { text: "Hi.", duration: 2.5, segments: [{ text: "Hi.", start: 0, end: 1 }] } }],
    });
    expect(plain.seen[0]?.form).toEqual({
      model: "whisper-1",
      response_format: "verbose_json",
      language: "en",
      prompt: "Claudia, Chihiro",
      file: "talk.mp3 (audio/mpeg, 8 bytes)",
    });
    expect(plain.output).toEqual({ text: "Hi.", diarization: { total_speakers: 0, entries: [], error_message: null } });
    const told = await runJob({
      row: openai,
      ...spoken({ speakers: 2 }),
      answers: [{ json: { text: "Hi.", duration: 2, segments: [{ text: " Hi.", start: 0, end: 1, speaker: "A" }] } }],
    });
    expect(told.seen[0]?.form).toMatchObject({ model: "gpt-4o-transcribe-diarize", response_format: "diarized_json" });
    expect(told.output["diarization"]).toMatchObject({ total_speakers: 1, entries: [{ segment: "Hi.", speaker: 1 }] });
    const refused = runJob({ row: openai, ...spoken({ speakers: 2 }), model: "whisper-1", answers: [] });
    expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(ValidationError);
  });

  test("elevenlabs and mistral answer at once", async () => {
    const eleven = await runJob({
      row: elevenlabs,
      ...spoken({ speakers: 3 }),
      answers: [
        // invented
        {
          json: {
            text: "Hi you",
            audio_duration_secs: 1,
            words: [
              { text: "Hi", type: "word", start: 0, end: 0.4, speaker_id: "speaker_0", logprob: 0 },
              { text: " ", type: "spacing", start: 0.4, end: 0.5 },
              { text: "you", type: "word", start: 0.5, end: 0.9, speaker_id: "speaker_1", logprob: -0.7 },
            ],
          },
        },
      ],
    });
    expect(eleven.seen[0]?.form).toMatchObject({ model_id: "scribe_v2", diarize: "true", num_speakers: "3" });
    expect(eleven.output["diarization"]).toMatchObject({
      total_speakers: 2,
      entries: [{ confidence: 1 }, { speaker: 2 }],
    });
    const other = await runJob({
      row: mistral,
      ...spoken(),
      answers: [
        // invented
        {
          json: {
            text: "Hi",
            segments: [{ text: "Hi", start: 0, end: 1, speaker_id: "s1" }],
            usage: { prompt_audio_seconds: 7 },
          },
        },
      ],
    });
    expect(other.seen[0]?.form).toMatchObject({ model: "voxtral-mini-latest", diarize: "true" });
    expect([other.answer.units.second, other.output["text"]]).toEqual([7, "Hi"]);
  });

  test("mistral gets no language, because it answers with an empty text beside times, and the caller is told", async () => {
    const answers = [{ json: { text: "Salut", segments: [] } }];
    const { seen } = await runJob({ row: mistral, ...spoken({ language: "fr-CA" }), answers });
    expect(seen[0]?.form).toEqual({
      model: "voxtral-mini-latest",
      diarize: "true",
      timestamp_granularities: "segment",
      file: "talk.mp3 (audio/mpeg, 8 bytes)",
    });
    expect(mistral.tasks?.find(({ task }) => task === transcription)?.unsupported).toContain("language");
  });

  test("mistral gets phrases without spaces and commas, and at most a hundred of them", async () => {
    const job = { row: mistral, answers: [{ json: { text: "Hi", segments: [] } }] };
    const { seen } = await runJob({ ...job, ...spoken({ vocabulary: ["Chihiro", " Alder  Creek,\tDesign ", " , "] }) });
    const sent = [...(seen[0]?.text ?? "").matchAll(/name="context_bias"\s+(\S+)/g)].map(([, item]) => item);
    expect(sent).toEqual(["Chihiro", "Alder_Creek_Design"]);
    const words = Array.from({ length: 101 }, (_, index) => `word${index}`);
    const most = await runJob({ ...job, ...spoken({ vocabulary: words.slice(1) }) });
    expect(most.seen[0]?.text.match(/name="context_bias"/g)).toHaveLength(100);
    const refused = await rejectionOf(runJob({ ...job, ...spoken({ vocabulary: words }) }), ValidationError);
    expect(refused.problems[0]?.loc).toEqual(["body", "input", "vocabulary"]);
  });

  test("microsoft answers at once, and takes parameters into its definition", async () => {
    const job = {
      row: microsoft,
      ...spoken({ language: "en-US", speakers: 40, profanity_filter: true, vocabulary: ["Contoso"] }),
      settings: { MICROSOFT_RESOURCE: "r" },
    };
    const { seen, output, answer } = await runJob({
      ...job,
      providerParams: { channels: [0, 1] },
      answers: [
        // documented: the example of the fast transcription page, shortened
        {
          json: {
            durationMilliseconds: 182439,
            combinedPhrases: [{ text: "Good afternoon." }],
            phrases: [
              {
                offsetMilliseconds: 960,
                durationMilliseconds: 640,
                text: "Good afternoon.",
                confidence: 0.93,
                speaker: 1,
              },
            ],
          },
        },
      ],
    });
    expect(pathsOf(seen)[0]).toStartWith("POST /speechtotext/transcriptions:transcribe?api-version=");
    expect(JSON.parse(seen[0]?.form["definition"] ?? "")).toEqual({
      profanityFilterMode: "Masked",
      diarization: { enabled: true, maxSpeakers: 35 },
      locales: ["en-US"],
      phraseList: { phrases: ["Contoso"] },
      channels: [0, 1],
    });
    expect(output["diarization"]).toMatchObject({ entries: [{ start_time: "0.96", end_time: "1.6", speaker: 1 }] });
    expect(answer.units).toMatchObject({ second: 182.439 });
    const sealed = runJob({ ...job, providerParams: { audioUrl: "https://inner/" }, answers: [] });
    expect(await sealed.catch((error: unknown) => error)).toBeInstanceOf(ValidationError);
  });

  // documented: the form of a transcript; values invented
  const transcript = {
    results: {
      transcripts: [{ transcript: "Hello, you." }],
      items: [
        {
          type: "pronunciation",
          start_time: "0.1",
          end_time: "0.5",
          speaker_label: "spk_0",
          alternatives: [{ content: "Hello", confidence: "0.99" }],
        },
        { type: "punctuation", alternatives: [{ content: ",", confidence: "0.0" }] },
        {
          type: "pronunciation",
          start_time: "0.6",
          end_time: "0.9",
          speaker_label: "spk_1",
          alternatives: [{ content: "you", confidence: "0.9" }],
        },
      ],
    },
  };
  const state = (TranscriptionJobStatus: string, more: object = {}) => ({
    json: { TranscriptionJob: { TranscriptionJobStatus, ...more } },
    headers: { "content-type": "application/x-amz-json-1.1" },
  });
  const completed = ({ url }: Seen) =>
    state("COMPLETED", { Transcript: { TranscriptFileUri: `${url.origin}/transcript.json?signed=1` } });

  test("amazon reads from the operator's bucket under the job's name, and the file is taken away again", async () => {
    const { output, seen } = await runJob({
      row: amazon,
      ...spoken({ language: "en-US", speakers: 2 }),
      // They are for the transcription, not for the upload.
      providerParams: { Priority: 1 },
      answers: [
        stored,
        state("IN_PROGRESS"),
        state("IN_PROGRESS"),
        completed,
        { json: transcript },
        { status: 204, json: "" },
      ],
    });
    expect(pathsOf(seen)).toEqual([
      `PUT /files/switchyard/${jobId}/input`,
      "POST /",
      "POST /",
      "POST /",
      "GET /transcript.json?signed=1",
      `DELETE /files/switchyard/${jobId}/input`,
    ]);
    expect(seen[0]?.text).toBe("ID3 talk");
    expect(seen[0]?.headers.get("x-amz-content-sha256")).toBe(createHash("sha256").update("ID3 talk").digest("hex"));
    expect(seen[0]?.headers.get("authorization")).toContain("/eu-west-1/s3/aws4_request");
    expect(seen[0]?.headers.get("authorization")).toContain("x-amz-content-sha256");
    expect(seen[5]?.headers.get("x-amz-content-sha256")).toBe(createHash("sha256").update("").digest("hex"));
    expect(seen.slice(1, 4).map(targetOf)).toEqual([
      "Transcribe.StartTranscriptionJob",
      "Transcribe.GetTranscriptionJob",
      "Transcribe.GetTranscriptionJob",
    ]);
    expect(seen[1]?.json).toEqual({
      TranscriptionJobName: `switchyard-${jobId}`,
      Media: { MediaFileUri: `s3://files/switchyard/${jobId}/input` },
      Settings: { ShowSpeakerLabels: true, MaxSpeakerLabels: 2 },
      LanguageCode: "en-US",
      Priority: 1,
    });
    // The vendor's address has a signature of its own.
    expect(seen[4]?.headers.get("authorization")).toBeNull();
    expect(output).toMatchObject({ text: "Hello, you.", diarization: { total_speakers: 2 } });
  });

  test("amazon's job that was begun already is the one that is asked for", async () => {
    const conflict = {
      status: 400,
      json: { __type: "ConflictException", Message: "The requested job name already exists." },
    };
    const { seen } = await runJob({
      row: amazon,
      ...spoken(),
      answers: [stored, conflict, completed, { json: transcript }, {}],
    });
    expect(seen[2]?.json).toEqual({ TranscriptionJobName: `switchyard-${jobId}` });
    const other = { status: 400, json: { __type: "LimitExceededException", Message: "Slow down" } };
    expect((await failureOf({ row: amazon, ...spoken(), answers: [stored, other, {}] })).code).toBe(
      "provider_rate_limited",
    );
  });

  test("amazon without a bucket says which setting is missing, and a failed job says why", async () => {
    const failure = await failureOf({
      row: amazon,
      ...spoken(),
      settings: { AWS_S3_BUCKET: undefined as never },
      answers: [],
    });
    expect(failure.message).toContain("set AWS_S3_BUCKET");
    const failed = await failureOf({
      row: amazon,
      ...spoken(),
      answers: [stored, state("IN_PROGRESS"), state("FAILED", { FailureReason: "Unsupported media" }), {}],
    });
    expect(failed.message).toEndWith("Unsupported media");
  });

  test("google reads from the operator's bucket, in the operator's part of the world", async () => {
    const { output, seen } = await runJob({
      row: google,
      ...spoken({ vocabulary: ["Chihiro"] }),
      answers: [
        { json: { name: "x" } },
        { json: { name: "projects/p/locations/eu/operations/7", metadata: {} } },
        { json: { name: "projects/p/locations/eu/operations/7", metadata: { progressPercent: 20 } } },
        // invented
        {
          json: {
            done: true,
            response: {
              totalBilledDuration: "12s",
              results: {
                "gs://files/x": {
                  inlineResult: {
                    transcript: {
                      results: [
                        { alternatives: [{ transcript: "Hello.", words: [{ word: "Hello.", speakerLabel: "1" }] }] },
                        { alternatives: [{ transcript: " Hi.", words: [{ word: "Hi.", speakerLabel: "2" }] }] },
                        {},
                      ],
                    },
                  },
                },
              },
            },
          },
        },
        {},
      ],
    });
    expect(pathsOf(seen)).toEqual([
      `POST /upload/storage/v1/b/files/o?uploadType=media&name=switchyard%2F${jobId}%2Finput`,
      "POST /v2/projects/project-1/locations/eu/recognizers/_:batchRecognize",
      "GET /v2/projects/p/locations/eu/operations/7",
      "GET /v2/projects/p/locations/eu/operations/7",
      `DELETE /storage/v1/b/files/o/switchyard%2F${jobId}%2Finput`,
    ]);
    expect(seen[1]?.json).toMatchObject({
      config: { model: "chirp_3", languageCodes: ["auto"], autoDecodingConfig: {} },
      files: [{ uri: `gs://files/switchyard/${jobId}/input` }],
      recognitionOutputConfig: { inlineResponseConfig: {} },
    });
    expect(output).toMatchObject({ text: "Hello. Hi.", diarization: { total_speakers: 2 } });
  });

  test("google's operation that failed is the job's failure", async () => {
    const answers = [
      {},
      { json: { name: "projects/p/operations/7" } },
      { json: { done: true, error: { code: 3, message: "Bad audio" } } },
      {},
    ];
    expect((await failureOf({ row: google, ...spoken(), answers })).message).toEndWith("Bad audio");
  });
});
