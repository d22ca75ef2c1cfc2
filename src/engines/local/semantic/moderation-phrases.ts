// The phrases that sentences are compared with. Sentences with a similar meaning are found even if their words differ.

export interface KindOfHarm {
  readonly label: string;
  readonly category: string;
  readonly subcategory: string;
  readonly phrases: readonly string[];
}

export const kindsOfHarm: readonly KindOfHarm[] = [
  {
    label: "insult",
    category: "Toxic",
    subcategory: "Insult",
    phrases: [
      "You are an idiot.",
      "You are stupid and worthless.",
      "Everybody hates you, go away.",
      "You are ugly and disgusting.",
      "What a pathetic loser.",
      "Nobody likes you.",
      "Shut up, you fool.",
      "You are a useless piece of garbage.",
    ],
  },
  {
    label: "threat",
    category: "Toxic",
    subcategory: "Threat",
    phrases: [
      "I will hurt you.",
      "I am going to kill you.",
      "Watch your back, I will find you.",
      "You will regret this when I get my hands on you.",
      "I know where you live.",
      "I hope you die a painful death.",
      "I will break your bones.",
    ],
  },
  {
    label: "violence",
    category: "Violence",
    subcategory: "Violence",
    phrases: [
      "They deserve to be killed.",
      "Somebody should shoot him.",
      "Let us beat them to death.",
      "Burn down their houses with them inside.",
      "Stab him in the heart.",
      "He tortured his victims and cut off their fingers.",
    ],
  },
  {
    label: "hate",
    category: "HateAndExtremism",
    subcategory: "Hate",
    phrases: [
      "Those people are vermin and should be exterminated.",
      "Foreigners are parasites, throw them all out of the country.",
      "Black people are inferior.",
      "Jews control everything and must be destroyed.",
      "Muslims are all terrorists.",
      "Gay people are sick and disgusting.",
      "Women are inferior to men.",
      "That race is full of criminals.",
      "They do not deserve to live among us.",
    ],
  },
  {
    label: "self-harm",
    category: "Violence",
    subcategory: "PhysicalViolence",
    phrases: [
      "I want to kill myself.",
      "I do not want to live any more.",
      "You should kill yourself.",
      "I cut myself to feel better.",
      "How many pills do I need to die?",
      "The world would be better off without me.",
    ],
  },
  {
    label: "sexual",
    category: "Sexual",
    subcategory: "Sexual",
    phrases: [
      "I want to have sex with you.",
      "Send me naked pictures of yourself.",
      "Take off your clothes for me.",
      "She undressed slowly and touched herself.",
      "He kissed her naked breasts.",
      "Let us make love all night.",
    ],
  },
];

/** Mostly about the same subjects, because a text about murder is not a threat. */
export const harmlessPhrases: readonly string[] = [
  "The weather is nice today.",
  "Please send me the report by Friday.",
  "The doctor treated the patient in the hospital.",
  "The police are looking for the thief.",
  "The soldiers fought in the war.",
  "How do I stop a process on the server?",
  "Our team won the match yesterday.",
  "Cook the meat for twenty minutes.",
  "I do not agree with your opinion.",
  "The food was terrible and the service was slow.",
  "The novel is about a murder in a small town.",
  "Sex education is taught at school.",
  "He was injured in an accident.",
  "Women and men have the same rights.",
  "Immigrants work in many parts of the economy.",
  "If you are in crisis, call the helpline.",
  "The animal was treated by the vet.",
  "This movie was boring.",
  "The knife cuts vegetables well.",
  "The company published its results.",
  "The church is in the centre of the town.",
  "Wash the child's clothes at forty degrees.",
  "A study of violence in the media.",
  "I am tired and want to go home.",
  "The bathroom has a shower and a mirror.",
  "My friend lives in another city.",
];
