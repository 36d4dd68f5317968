import { describe, expect, test } from 'bun:test'
import { EVERY_KIND, EXPORTED } from './recorder-export.fixture.ts'
import {
  parseRecording,
  placeholdersIn,
  type RecordedStep,
  selectorOf,
  selectorText,
  withFirstSelector,
  withStartUrl,
  withValues,
} from './recorder-export.ts'
import { STEP_TYPES } from './recording-steps.ts'
import { titleOf } from './step-title.ts'

test.each([EXPORTED, EVERY_KIND])('an export is accepted unchanged: $title', (recording) => {
  expect(parseRecording(structuredClone(recording), 'recording')).toEqual(recording)
})

test('the examples include every step type', () => {
  expect(new Set(EVERY_KIND.steps.map(({ type }) => type))).toEqual(new Set(STEP_TYPES))
})

test('unknown fields from Chrome are preserved', () => {
  const steps = [{ type: 'navigate', url: 'https://shop.example/', addedBy: 'Chrome 200' }]
  const recording = { title: '', someday: true, steps }
  expect(parseRecording(recording, 'recording')).toEqual(recording)
})

const click = { type: 'click', selectors: ['#it'] }
const refused: [what: string, steps: unknown, message: string][] = [
  ['not a list', {}, 'recording.steps: must be a list'],
  ['no steps', [], 'recording.steps: must have at least one item'],
  ['201 steps', Array(201).fill(click), 'recording.steps: must have at most 200 items'],
  ['no type', [click, {}], 'recording.steps[1].type: is missing'],
  ['an unknown type', [{ type: 'teleport' }], 'recording.steps[0].type: must be one of setViewport,'],
  ['a property name of Object', [{ type: 'constructor' }], 'recording.steps[0].type: must be one of'],
  ['a customStep', [{ type: 'customStep', name: 'x', parameters: {} }], 'recording.steps[0].type: customStep belongs'],
  ['no selectors', [{ type: 'click' }], 'recording.steps[0].selectors: is missing'],
  ['an empty list', [{ ...click, selectors: [] }], 'recording.steps[0].selectors: must have at least one item'],
  ['an empty selector', [{ ...click, selectors: [[]] }], 'recording.steps[0].selectors[0]: must be a string'],
  ['a number', [{ ...click, selectors: ['a', [7]] }], 'recording.steps[0].selectors[1][0]: must be a string'],
  ['::-p-aria', [{ ...click, selectors: ['::-p-aria(Pay)'] }], 'recording.steps[0].selectors[0]: use aria/…'],
  ['a frame by name', [{ ...click, frame: ['pay'] }], 'recording.steps[0].frame[0]: must be a whole number'],
  ['an unknown button', [{ ...click, button: 'left' }], 'recording.steps[0].button: must be one of primary'],
  ['no URL', [{ type: 'navigate' }], 'recording.steps[0].url: is missing'],
  ['a file', [{ type: 'navigate', url: 'file:///etc/passwd' }], 'recording.steps[0].url: must be a URL'],
  ['a script', [{ type: 'navigate', url: 'javascript:alert(1)' }], 'recording.steps[0].url: must be a URL'],
  ['a page of Chrome', [{ type: 'navigate', url: 'chrome://new-tab-page/' }], 'recording.steps[0].url: must be'],
  ['half a URL', [{ type: 'navigate', url: 'https://' }], 'recording.steps[0].url: must be a URL'],
  ['a target that is a file', [{ ...click, target: 'file:///x' }], 'recording.steps[0].target: must be a URL'],
  ['no value', [{ type: 'change', selectors: ['#it'] }], 'recording.steps[0].value: is missing'],
  ['no key', [{ type: 'keyDown' }], 'recording.steps[0].key: is missing'],
  ['a timeout of 0', [{ ...click, timeout: 0 }], 'recording.steps[0].timeout: must be at least 1'],
  ['another event', [{ ...click, assertedEvents: [{ type: 'x' }] }], 'recording.steps[0].assertedEvents[0].type: must'],
  ['1 MiB', Array(200).fill({ ...click, selectors: ['x'.repeat(6000)] }), 'recording: must be at most 1 MiB'],
]
test.each(refused)('%s is rejected with the name of the field', (_, steps, message) => {
  expect(() => parseRecording({ title: 'A', steps }, 'recording')).toThrow(message)
})

test.each([[null], [7], ['x'], [[]], [{}], [{ title: 7, steps: [click] }]])('%j is not a recording', (value) => {
  expect(() => parseRecording(value, 'recording')).toThrow(/^recording/)
})

describe('variables in a recording', () => {
  test('are replaced in every string, at any depth', () => {
    const step = { type: 'click', selectors: [['{{a}}', 'x {{ b }} {{a}}']], n: 1, none: null }
    expect(withValues(step, { a: '1', b: '$&' })).toEqual({ ...step, selectors: [['1', 'x $& 1']] })
    expect(placeholdersIn(step)).toEqual(['a', 'b'])
  })

  test('without a value stay unchanged, and names of inherited properties are not values', () => {
    expect(withValues('{{a}} {{toString}} {{ }} {a}', { b: 'x' })).toBe('{{a}} {{toString}} {{ }} {a}')
  })

  test('may be a URL or part of one', () => {
    const open = (url: string) => ({ title: '', steps: [{ type: 'navigate', url }] })
    for (const url of ['{{start}}', 'https://{{host}}/a', 'https://shop.example/?q={{q}}']) {
      expect(parseRecording(open(url), 'recording')).toEqual(open(url))
    }
    expect(() => parseRecording(open('file://{{path}}'), 'recording')).toThrow('recording.steps[0].url')
  })
})

describe('the start page', () => {
  test('replaces the first navigation', () => {
    const moved = withStartUrl(EXPORTED, 'https://preview.example/')
    expect(moved.steps[1]?.url).toBe('https://preview.example/')
    expect(moved.steps.toSpliced(1, 1)).toEqual(EXPORTED.steps.toSpliced(1, 1))
    expect(withStartUrl(EXPORTED, null)).toBe(EXPORTED)
  })

  test('is rejected when it is not a URL, or when the recording opens no page', () => {
    expect(() => withStartUrl(EXPORTED, 'file:///x')).toThrow('startUrl: must be a URL')
    expect(() => withStartUrl({ title: '', steps: [click] }, 'https://a.example/')).toThrow('startUrl: the recording')
  })
})

test('a healed selector is moved to the front without being duplicated', () => {
  const steps = [{ type: 'click', selectors: ['#a', ['#host', '#b'], 'text/C'] }, { type: 'close' }]
  const healed = withFirstSelector({ title: '', steps }, 0, '#host >>> #b')
  expect(healed.steps).toEqual([{ type: 'click', selectors: [['#host', '#b'], '#a', 'text/C'] }, { type: 'close' }])
  expect(withFirstSelector(healed, 1, '#a')).toEqual(healed)
})

test('a selector path through shadow trees converts to a string and back', () => {
  for (const selector of ['#a > b', ['a', 'b', 'c']]) expect(selectorOf(selectorText(selector))).toEqual(selector)
})

test.each<[RecordedStep, string]>([
  [EXPORTED.steps[1] as RecordedStep, 'Open https://shop.example/'],
  [EXPORTED.steps[2] as RecordedStep, 'Click “Red shoes”'],
  [EXPORTED.steps[3] as RecordedStep, 'Click “Add to basket”'],
  [EXPORTED.steps[4] as RecordedStep, 'Press Tab'],
  [EXPORTED.steps[6] as RecordedStep, 'Fill in “E-mail”'],
  [{ type: 'click', selectors: ['#x', 'text/Pay now'], button: 'secondary' }, 'Right-click “Pay now”'],
  [{ type: 'click', selectors: ['aria/Pay[role="button"]'] }, 'Click “Pay”'],
  [{ type: 'hover', selectors: [`aria/[name="Pay"][role="button"]`] }, 'Point at “Pay”'],
  [{ type: 'scroll' }, 'Scroll the page'],
  [{ type: 'keyUp', key: ' ' }, 'Release Space'],
  [{ type: 'waitForElement', selectors: ['#x'], visible: false }, 'Wait for #x to disappear'],
  [{ type: 'click', selectors: [`text/${'long '.repeat(100)}`] }, `Click “${'long '.repeat(16).slice(0, 79)}…”`],
])('the title of %j is: %s', (step, words) => {
  expect(titleOf(step)).toBe(words)
})
