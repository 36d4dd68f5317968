/** A step of a recording, as the Recorder of Chrome DevTools exports it. */
export interface RecordedStep {
  type: string
  [field: string]: unknown
}

/** What the Recorder exports. */
export interface Recording {
  title: string
  steps: readonly RecordedStep[]
}
