import { describe, expect, test } from 'bun:test'
import { testApp } from '../../test/test-app.ts'
import { importRecording } from './import-recording.ts'
import { EVERY_KIND, EXPORTED } from './recorder-export.fixture.ts'

const click = { type: 'click', selectors: [['aria/Buy'], ['#buy']] }
const open = { type: 'navigate', url: 'https://shop.example/' }
const read = (steps: unknown) => importRecording({ title: 'Buy', steps }, 'recording')

test.each([EXPORTED, EVERY_KIND])('a complete export is imported unchanged: $title', (recording) => {
  expect(importRecording(structuredClone(recording), 'recording')).toEqual({ recording, skipped: [] } as never)
})

test.each<[what: string, step: unknown, type: string, reason: string]>([
  ['a step of an extension', { type: 'customStep', name: 'x' }, 'customStep', 'type: customStep belongs to an extens'],
  ['an unknown step', { type: 'teleport' }, 'teleport', 'type: this kind of step is not supported'],
  ['a page of the browser', { ...open, url: 'chrome://new-tab-page/' }, 'navigate', 'url: must be a URL that begins'],
  ['no selectors', { type: 'click' }, 'click', 'selectors: is missing'],
  ['foreign selectors only', { ...click, selectors: ['::-p-text(Buy)'] }, 'click', 'selectors[0]: use aria/…'],
  ['no object', 7, '', 'must be an object'],
  ['no type', {}, '', 'type: is missing'],
])('a step that cannot be executed is left out and reported: %s', (_, step, type, reason) => {
  const { recording, skipped } = read([open, step, click])
  expect(recording.steps).toEqual([open, click])
  expect(skipped).toEqual([{ step: 1, type, reason: expect.stringContaining(reason) }])
})

test('a step with some foreign selectors keeps the others', () => {
  const { recording, skipped } = read([{ ...click, selectors: ['::-p-text(Buy)', '#buy'] }])
  expect(recording.steps).toEqual([{ ...click, selectors: ['#buy'] }])
  expect(skipped).toEqual([{ step: 0, type: 'click', reason: '1 selector in Puppeteer’s syntax (::-p-…)' }])
})

test('steps after the 200th are left out', () => {
  const { recording, skipped } = read(Array(203).fill(open))
  expect(recording.steps).toHaveLength(200)
  expect(skipped.map(({ step }) => step)).toEqual([200, 201, 202])
})

test.each<[value: unknown, message: string]>([
  [[], 'recording: must be an object'],
  [{ title: 'x' }, 'recording.steps: must be a list'],
  [{ steps: [] }, 'recording.steps: must have at least one item'],
  [{ steps: [{ type: 'customStep' }] }, 'recording.steps[0]: type: customStep belongs to'],
])('a value without executable steps is rejected: %j', (value, message) => {
  expect(() => importRecording(value, 'recording')).toThrow(message)
})

describe('POST /v1/flows/drafts with a recording', () => {
  test.each([0, 100_000])('lists the steps that are left out, at every size (%p more bytes)', async (bytes) => {
    await using world = await testApp()
    const recording = { title: 'Buy', comment: 'x'.repeat(bytes), steps: [open, { type: 'customStep' }] }
    const { status, body } = await world.call('POST', '/v1/flows/drafts', { body: { recording } })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { recording: { steps: [open] }, expectations: [], skippedSteps: [{ step: 1, type: 'customStep' }] },
    })
    const wrong = { recording: { ...recording, steps: 'none' } }
    expect(await world.call('POST', '/v1/flows/drafts', { body: wrong })).toMatchObject({
      status: 400,
      body: { error: 'recording.steps: must be a list' },
    })
  })
})
