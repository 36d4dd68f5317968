import { expect, test } from 'bun:test'
import { type ExpectedLine, expectDecoded } from './decoded.ts'
import { describeReport, expectedOf, reportLines } from './report.ts'

describeReport('Snowplow Iglu webhooks', () => {
  test('are decoded as expected', () => {
    const requests = reportLines('12-snowplow-iglu-post.ndjson')
    const { lines } = expectedOf<{ lines: ExpectedLine[] }>('12-snowplow-iglu-post.expected.json')
    expect(requests).toHaveLength(lines.length)
    for (const [index, line] of lines.entries()) expectDecoded(requests[index] ?? { url: '', method: '' }, line)
  })
})
