import { expect, test } from 'bun:test'
import { type ExpectedLine, expectDecoded } from './decoded.ts'
import { describeReport, expectedOf, reportLines } from './report.ts'

describeReport('Mixpanel NDJSON batches', () => {
  test('are decoded as expected', () => {
    const requests = reportLines('13-mixpanel-ndjson.ndjson')
    const { lines } = expectedOf<{ lines: ExpectedLine[] }>('13-mixpanel-ndjson.expected.json')
    expect(requests).toHaveLength(lines.length)
    for (const [index, line] of lines.entries()) expectDecoded(requests[index] ?? { url: '', method: '' }, line)
  })
})
