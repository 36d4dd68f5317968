import type { MessageRow } from '../../message/message-text.ts'

/** What a description or a comment consists of, before it is written for Cloud or a Data Center. No title is empty. */
export type Block =
  | { kind: 'sentence'; title: string; text: string }
  | { kind: 'facts'; rows: readonly MessageRow[] }
  | { kind: 'verbatim'; title: string; lines: readonly string[] }
  | { kind: 'link'; title: string; url: string }
