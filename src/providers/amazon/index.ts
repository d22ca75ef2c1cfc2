import { defineProvider } from "../provider.ts";
import { readAwsRefusal } from "./aws-json.ts";
import { chat, embeddings, modelAccess } from "./bedrock.ts";
import { recogniseFaces } from "./collections.ts";
import { documentTasks } from "./documents.ts";
import { imageTasks } from "./images.ts";
import { languageTasks } from "./language.ts";
import { speak, transcribe } from "./speech.ts";
import { generateVideo } from "./video.ts";
import { videoTasks } from "./video-analysis.ts";

export const amazon = defineProvider("amazon", "Amazon Web Services", {
  openTelemetryName: "aws.bedrock",
  docs: "https://docs.aws.amazon.com/general/latest/gr/aws-service-information.html",
  auth: { kind: "aws-sigv4" },
  baseUrl: null,
  services: {
    bedrock: "https://bedrock-runtime.{region}.amazonaws.com",
    comprehend: "https://comprehend.{region}.amazonaws.com",
    polly: "https://polly.{region}.amazonaws.com",
    rekognition: "https://rekognition.{region}.amazonaws.com",
    s3: "https://s3.{region}.amazonaws.com",
    textract: "https://textract.{region}.amazonaws.com",
    transcribe: "https://transcribe.{region}.amazonaws.com",
    translate: "https://translate.{region}.amazonaws.com",
  },
  placeholders: { region: "AWS_REGION" },
  settingFallbacks: { AWS_REGION: ["AWS_DEFAULT_REGION"] },
  sealedParams: [
    "S3Object",
    "EndpointArn",
    "ProjectVersion",
    "HumanLoopConfig",
    "AdaptersConfig",
    "LexiconNames",
    // Where a job reads its input, writes its output and sends notifications, and under which identity it runs.
    "DocumentLocation",
    "OutputConfig",
    "NotificationChannel",
    "ClientRequestToken",
    "Media",
    "Video",
    "CollectionId",
    "JobId",
    "JobTag",
    "OutputBucketName",
    "OutputKey",
    "TranscriptionJobName",
    "JobExecutionSettings",
    "VocabularyName",
    "VocabularyFilterName",
    "LanguageModelName",
    "s3Location",
  ],
  billedParams: [
    ...["Text", "Bytes", "Engine"],
    // Each feature of a document or an image, and each type of segment of a video, has a price of its own.
    ...["FeatureTypes", "Features", "SegmentTypes"],
    // Nova Reel: the length of the clip, and the kind of request that determines it by the number of shots.
    ...["durationSeconds", "taskType", "multiShotManualParams"],
  ],
  readRefusal: readAwsRefusal,
  dialect: "bedrock",
  modelAccess,
  chat,
  embeddings,
  tasks: [
    ...documentTasks,
    ...languageTasks,
    ...imageTasks,
    recogniseFaces,
    speak,
    transcribe,
    generateVideo,
    ...videoTasks,
  ],
});
