import { expect, test } from 'bun:test'
import { SenderClocks } from './sender-clocks.ts'

const medianOf = (offsets: readonly number[]) => {
  const clocks = new SenderClocks()
  for (const offset of offsets) clocks.add(offset)
  return (
    clocks
      .metrics()
      .flatMap((metric) => ('samples' in metric ? metric.samples : []))
      .at(0)?.value ?? null
  )
}

test.each<[string, number[], number | null]>([
  ['too few senders', Array(19).fill(60_000), null],
  ['equal clocks', Array(20).fill(60_000), 60],
  ['a few wrong clocks', [...Array(9).fill(1e12), ...Array(30).fill(-2000)], -2],
  ['only the most recent senders', [...Array(500).fill(60_000), ...Array(500).fill(-1000)], -1],
])('%s', (_, offsets, expected) => {
  expect(medianOf(offsets)).toBe(expected)
})
