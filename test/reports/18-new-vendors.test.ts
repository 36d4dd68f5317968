import { expect, test } from 'bun:test'
import { describeReport, expectedOf, reportLines } from './bug-report.ts'
import { type ExpectedLine, expectDecoded } from './expect-decoded.ts'

describeReport('AppLovin Axon and OpenAI Ads requests', () => {
  test('are decoded as expected', () => {
    const requests = reportLines('18-new-vendors.ndjson')
    const { lines } = expectedOf<{ lines: ExpectedLine[] }>('18-new-vendors.expected.json')
    expect(requests).toHaveLength(lines.length)
    for (const [index, line] of lines.entries()) expectDecoded(requests[index] ?? { url: '', method: '' }, line)
  })
})
