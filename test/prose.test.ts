import { describe, expect, test } from 'bun:test'
import {
  faultsOf,
  HABITS,
  MAX_WORDS,
  paragraphsOfCode,
  paragraphsOfDocument,
  sentencesOf,
  sentencesOfProject,
} from './prose.ts'

/** Correct sentences that match a rejected pattern, each with the reason. */
const ALLOWED: readonly (readonly [text: string, reason: string])[] = [
  ['What would have happened', 'the accessible name of a heading, which third-party tests look for'],
  ['`l` not set, `p` denied by default', 'a legend of single letters'],
  ['AdRoll Pixel, Amazon Ads, Bombora', 'a list of vendor names'],
  ['stands out', 'a segment that differs from the others'],
  ['stand out', 'the same'],
  ['a domain without events · a new critical', 'a list of subjects'],
]

const project = sentencesOfProject()

test('no sentence of the project violates the style rules', () => {
  expect(faultsOf(project.filter(({ text }) => !ALLOWED.some(([part]) => text.includes(part))))).toEqual([])
})

test('every exception is used', () => {
  const unmet = ALLOWED.filter(([part]) => !project.some(({ text }) => text.includes(part)))
  expect(unmet).toEqual([])
})

describe('the sentence parser', () => {
  test.each<[string, string[]]>([
    ['/** Maximum number of files. */', ['Maximum number of files.']],
    [
      '/**\n * First line\n * goes on here. Second sentence.\n *\n * Third.\n */',
      ['First line goes on here.', 'Second sentence.', 'Third.'],
    ],
    ['  // Why it is so.\n  call()', ['Why it is so.']],
    ["throw new AppError('invalid', 'at least one value is required')", ['at least one value is required']],
    ['const sql = `SELECT a FROM events WHERE b = 1`', []],
    ["import { a } from './a.ts'", []],
  ])('finds the sentences in %j', (source, expected) => {
    expect(paragraphsOfCode(source).flatMap(({ text }) => sentencesOf(text))).toEqual(expected)
  })

  test('reads paragraphs, list items and headings of a document, but no code or tables', () => {
    const document = '# Title\n\nOne *two*.\nThree [four](x.md).\n\n```sh\nnpm test\n```\n\n| a | b |\n\n- item\n'
    expect(paragraphsOfDocument(document)).toEqual([
      { line: 1, text: 'Title', kind: 'heading' },
      { line: 3, text: 'One two. Three four.', kind: 'paragraph' },
      { line: 12, text: 'item', kind: 'paragraph' },
    ])
  })

  test.each(HABITS.map(({ name, kinds = ['comment'] }) => [name, kinds[0]] as const))(
    '(%s) finds examples that violate the rule',
    (name) => {
      const examples = [
        'So many files are written at once.',
        'A label and what is beside it.',
        'How the issue stands.',
        'The owner is told.',
        'The index is built anew.',
        'A clock of its own.',
        'It ends by itself.',
        'The files that are there.',
        'It takes in events.',
        'The most that fits.',
        'Anything whoever asks may see.',
        'The stream goes on.',
        'A value that is no number fails.',
        'What came late waits here.',
        `${'word '.repeat(MAX_WORDS)}end.`,
      ]
      const habit = HABITS.find((one) => one.name === name)
      const found = name.startsWith('a heading') ? ['Who hears of it'] : examples
      expect(found.some((text) => habit?.pattern.test(text))).toBe(true)
    },
  )
})
