import { expect, test } from 'bun:test'
import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { type CaptureCount, NO_ORDERS } from './capture-count.ts'
import { withDefaults } from './capture-rule.ts'
import { type CaptureState, INITIAL_STATE, judgeRule } from './judge-rule.ts'

const END = Date.UTC(2026, 2, 30)
const rule = withDefaults({ domainId: 'dom_1', vendor: 'Google Analytics 4' })

/** 12 weeks of orders, some of which are missing, reported twice, or have another value. */
const counts = Array.from({ length: (84 * DAY_MS) / HOUR_MS }, (_, hour): CaptureCount => {
  const shares = { captured: 195, duplicated: 5, duplicates: 5, valued: 195, deviating: 4 }
  return { ...NO_ORDERS, startAt: END - 84 * DAY_MS + hour * HOUR_MS, orders: 200, ...shares }
})

test('other work runs after each of the three shares has been judged', async () => {
  const history = { counts, settledTo: END, currency: null }
  const reads: number[] = []
  let read = 0
  const watched: CaptureState = {
    usual: null,
    get missing() {
      read++
      return INITIAL_STATE.missing
    },
    get duplicates() {
      read++
      return INITIAL_STATE.duplicates
    },
    get values() {
      read++
      return INITIAL_STATE.values
    },
  }
  const { state, problems } = await judgeRule({ ...rule, id: 'ocr_1' }, { ...history, state: watched }, async () => {
    reads.push(read)
  })
  expect(reads).toEqual([1, 2, 3])
  expect(state.usual?.share).toBeCloseTo(0.025)
  expect(problems).toEqual([])
})
