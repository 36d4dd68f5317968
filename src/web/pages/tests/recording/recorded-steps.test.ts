import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  deleteStep,
  duplicateStep,
  editedRecording,
  insertStep,
  moveStep,
  readRecording,
  recordingOf,
  restoreStep,
  selectorOf,
  selectorText,
  type Walk,
  waitingForPage,
  waitsForPage,
  withSelector,
  withType,
} from './recorded-steps.ts'

/** A walk whose steps have the URLs `0`, `1`, …, each with an expectation that names its URL. */
const walkOf = (length: number): Walk => ({
  recording: editedRecording({
    title: 'Buy',
    timeout: 5000,
    steps: Array.from({ length }, (_, index) => ({ type: 'navigate', url: String(index) })),
  }),
  expectations: [{ event: 'anywhere' }, ...Array.from({ length }, (_, step) => ({ step, event: String(step) }))],
})
const urls = ({ recording }: Walk) => recording.steps.map(({ step }) => step.url as string)

/** Returns whether each expectation still refers to the step that it was made for. */
const isConsistent = (walk: Walk) =>
  walk.expectations.every(({ step, event }) => step === undefined || urls(walk)[step] === event)

const position = fc.nat({ max: 7 })
const operation = fc.oneof(
  fc.record({ kind: fc.constant('move' as const), a: position, b: position }),
  fc.record({ kind: fc.constant('insert' as const), a: position, b: position }),
  fc.record({ kind: fc.constant('delete' as const), a: position, b: position }),
)

test('expectations follow their steps through any sequence of edits', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 12 }), (operations) => {
      let walk = walkOf(5)
      for (const { kind, a, b } of operations) {
        const { length } = walk.recording.steps
        if (kind === 'move') walk = moveStep(walk, a, b)
        else if (kind === 'insert') walk = insertStep(walk, Math.min(a, length), { type: 'click' })
        else if (a < length) walk = deleteStep(walk, a)
        expect(isConsistent(walk)).toBe(true)
        expect(walk.expectations[0]).toEqual({ event: 'anywhere' })
      }
      const keys = walk.recording.steps.map(({ key }) => key)
      expect(new Set(keys).size).toBe(keys.length)
    }),
  )
})

test('a deleted step is restored in place with its expectations', () => {
  for (const at of [0, 1, 2]) {
    const walk = walkOf(3)
    const removed = walk.recording.steps[at] as Walk['recording']['steps'][number]
    const own = walk.expectations.filter(({ step }) => step === at)
    const shorter = deleteStep(walk, at)
    expect(urls(shorter)).toEqual(['0', '1', '2'].toSpliced(at, 1))
    expect(shorter.expectations).toHaveLength(3)
    const restored = restoreStep(shorter, at, removed, own)
    expect([urls(restored), isConsistent(restored), restored.expectations.length]).toEqual([['0', '1', '2'], true, 4])
    // A second undo does nothing.
    expect(restoreStep(restored, at, removed, own)).toBe(restored)
  }
})

test('a step is duplicated after itself without its expectations', () => {
  const walk = duplicateStep(walkOf(2), 0)
  expect(urls(walk)).toEqual(['0', '0', '1'])
  expect(walk.expectations.filter(({ event }) => event === '0')).toHaveLength(1)
  expect(isConsistent(walk)).toBe(true)
})

test('a step can’t be moved beyond the ends', () => {
  expect(urls(moveStep(walkOf(2), 0, -1))).toEqual(['0', '1'])
  expect(urls(moveStep(walkOf(2), 1, 2))).toEqual(['0', '1'])
  expect(urls(moveStep(walkOf(3), 0, 2))).toEqual(['1', '2', '0'])
})

test('a recording keeps all of its fields, and gets a title if it has none', () => {
  const recording = { title: 'Buy', timeout: 5000, someday: true, steps: [{ type: 'click', x: 1 }] }
  expect(recordingOf(editedRecording(recording), 'Name')).toEqual(recording)
  expect(recordingOf(editedRecording({ ...recording, title: '' }), 'Name').title).toBe('Name')
})

describe('the JSON of a recording', () => {
  test.each(['{"steps": 1}', 'null', '7', '[]', '{"steps": [{}]}', '{"steps": [null]}'])('needs steps: %s', (text) => {
    expect(readRecording(text)).toEqual({ recording: null, fault: null })
  })
  test('has a syntax error with its position', () => {
    expect(readRecording('{"steps": [}')).toEqual({ recording: null, fault: { line: 1, column: 12 } })
  })
  test('is read', () => {
    expect(readRecording('{"title":"a","steps":[{"type":"close"}]}').recording?.steps[0]?.step).toEqual({
      type: 'close',
    })
  })
})

test('another kind of step keeps the fields that it has', () => {
  const schema = { properties: { selectors: {}, value: {} } }
  const step = { type: 'click', selectors: ['#a'], offsetX: 1 }
  expect(withType(step, 'change', schema)).toEqual({ type: 'change', selectors: ['#a'] })
})

test('selectors are edited one by one, and paths through shadow trees are kept', () => {
  expect(selectorOf(selectorText(['buy-box', '#add']))).toEqual(['buy-box', '#add'])
  const step = { type: 'click', selectors: [['aria/Buy'], ['buy-box', '#add']] }
  expect(withSelector(step, 0, '#buy').selectors).toEqual(['#buy', ['buy-box', '#add']])
  expect(withSelector(step, 2, 'text/Buy').selectors).toEqual([['aria/Buy'], ['buy-box', '#add'], 'text/Buy'])
  expect(withSelector(withSelector(step, 1, ''), 0, '')).toEqual({ type: 'click' })
})

test('a step waits for a new page, or not', () => {
  const step = waitingForPage({ type: 'click' }, true)
  expect(step).toEqual({ type: 'click', assertedEvents: [{ type: 'navigation' }] })
  expect([waitsForPage(step), waitsForPage(waitingForPage(step, false))]).toEqual([true, false])
})
