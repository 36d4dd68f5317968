import { expect, test } from 'bun:test'
import { PLAIN_PRIVACY } from '../conditions/privacy-settings.ts'
import { judgeRun } from './judge-run.ts'
import { type HeadlinedRun, headlineOf } from './run-headline.ts'
import { runEvent, stepResult } from './run-result.fixture.ts'
import type { RunFinding } from './run-result.ts'

const healedBy = (before: string, after: string, type = 'click') =>
  stepResult({ type, status: 'healed', healed: { before, after } })
const failed = stepResult({ index: 3, title: 'Click “Buy”', status: 'failed', error: 'no element fits' })
const finding = (fields: Partial<RunFinding>): RunFinding => ({
  kind: 'missing',
  step: 0,
  vendor: 'Meta Pixel',
  event: 'AddToCart',
  sentence: '',
  expected: null,
  observed: null,
  ...fields,
})
const wrong = (expected: string, observed: string) =>
  finding({ kind: 'wrong_data', event: 'purchase', expected, observed })

test.each<[string, Partial<HeadlinedRun>]>([
  ['Both steps passed', { steps: [stepResult(), stepResult({ index: 1 })] }],
  ['The only step passed', { steps: [stepResult()] }],
  ['The only step passed; one button found by its text', { steps: [healedBy('#buy button', 'text/Buy')] }],
  [
    'Both steps passed; 2 elements found by their names',
    { steps: [healedBy('#a', 'aria/A'), healedBy('#b', 'aria/B')] },
  ],
  ['The only step passed; one field found another way', { steps: [healedBy('#a', '#b', 'change')] }],
  [
    'Purchase without its transaction id; one button found by its text',
    {
      steps: [healedBy('aria/Buy[role="button"]', 'text/Buy')],
      findings: [wrong('`ep.transaction_id`', 'no `ep.transaction_id`')],
    },
  ],
  ['Purchase with a wrong currency', { findings: [wrong('`cu` equal to "EUR"', '"USD" as `cu`')] }],
  [
    'Purchase with a wrong value and 1 more',
    { findings: [wrong('`epn.value` above 0 and `cu`', '"0" as `epn.value`')] },
  ],
  ['Purchase with wrong data', { findings: [wrong('host equal to "a"', '"b" as host')] }],
  ['Add to cart did not fire', { findings: [finding({})] }],
  ['Add to cart fired only once', { findings: [finding({ observed: 'once' })] }],
  ['No Meta Pixel event fired', { findings: [finding({ event: null })] }],
  ['Add to cart fired where it should not', { findings: [finding({ kind: 'unexpected', expected: 'none' })] }],
  [
    'Add to cart fired 3 times',
    { findings: [finding({ kind: 'unexpected', expected: 'at most once', observed: '3 times' })] },
  ],
  ['Add to cart sent twice', { findings: [finding({ kind: 'duplicate', observed: '2 times' })] }],
  [
    'Add to cart triggers “Value is there”',
    {
      findings: [
        finding({ kind: 'rule', sentence: 'x triggers the alert “Value is there” in step 1: it had no `value`' }),
      ],
    },
  ],
  [
    'Step 4 failed (Click “Buy”); add to cart did not fire; 1 more fault',
    {
      steps: [failed],
      findings: [finding({ kind: 'step_failed', step: 3 }), finding({}), finding({ kind: 'duplicate' })],
    },
  ],
  [
    'The run ended early: it took too long',
    { findings: [finding({ kind: 'step_failed', step: null, sentence: 'The run ended early: it took too long' })] },
  ],
  ['Cut off when the server stopped', { error: 'cut off when the server stopped' }],
])('the headline of a run: %s', (headline, run) => {
  expect(headlineOf({ steps: [], findings: [], error: null, ...run })).toBe(headline)
})

test('the headline recognizes the sentences in findings', () => {
  const steps = [stepResult()]
  const events = [runEvent({ event: 'purchase', params: { cu: 'USD' } })]
  const data = [
    { parameter: 'ep.transaction_id', op: 'not_blank' as const },
    { parameter: 'cu', op: 'equals' as const, values: ['EUR'] },
  ]
  const headlines = data.map((condition) => {
    const expectations = [{ event: 'purchase', data: [condition] }]
    const findings = judgeRun({ steps, events, error: null, expectations, labels: {}, privacy: PLAIN_PRIVACY })
    return headlineOf({ steps, findings, error: null })
  })
  expect(headlines).toEqual(['Purchase without its transaction id', 'Purchase with a wrong currency'])
})
