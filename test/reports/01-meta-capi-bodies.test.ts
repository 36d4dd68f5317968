import { expect, test } from 'bun:test'
import { decodeLine } from '../../src/commands/decode.ts'
import { describeReport, expectedOf, reportLines } from './bug-report.ts'
import { type ExpectedLine, expectDecoded } from './expect-decoded.ts'

describeReport('Meta Conversions API bodies', () => {
  test('are decoded as expected', () => {
    const requests = reportLines('01-meta-capi-bodies.ndjson')
    const { lines } = expectedOf<{ lines: ExpectedLine[] }>('01-meta-capi-bodies.expected.json')
    expect(requests).toHaveLength(lines.length)
    expect(JSON.stringify(requests.map(decodeLine))).not.toContain('EAABtoken')
    for (const index of [0, 4]) {
      const codes = decodeLine(requests[index]).events.map(({ params }) => params.test_event_code)
      expect(codes).toEqual(['TEST4711', 'TEST4711'])
    }
    for (const [index, line] of lines.entries()) expectDecoded(requests[index] ?? { url: '', method: '' }, line)
  })
})
