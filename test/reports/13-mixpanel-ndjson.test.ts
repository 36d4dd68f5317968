import { expect, test } from 'bun:test'
import { describeReport, expectedOf, reportLines } from './bug-report.ts'
import { type ExpectedLine, expectDecoded } from './expect-decoded.ts'

describeReport('Mixpanel NDJSON batches', () => {
  test('are decoded as expected', () => {
    const requests = reportLines('13-mixpanel-ndjson.ndjson')
    const { lines } = expectedOf<{ lines: ExpectedLine[] }>('13-mixpanel-ndjson.expected.json')
    expect(requests).toHaveLength(lines.length)
    for (const [index, line] of lines.entries()) expectDecoded(requests[index] ?? { url: '', method: '' }, line)
  })
})
