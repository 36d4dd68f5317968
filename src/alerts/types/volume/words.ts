import type { Unit, Words } from '../words.ts'

export const windowUnit: Unit = { one: 'window', many: 'windows', meaning: 'windows that fired' }

/** For types that judge the count of a window: the finding has the numbers of the window that opened the issue. */
export const volumeWords: Words = {
  title: ({ name, what, finding }) => `${name}${what ? ` (${what})` : ''}: ${finding.summary}`,
  summary: ({ subject, summary }) => `${summary ?? 'the volume is wrong'}${subject ? ` (${subject})` : ''}`,
  expected: null,
}
