import { expect, test } from 'bun:test'
import { describeReport, expectedOf, reportLines } from './bug-report.ts'
import { type ExpectedLine, expectDecoded } from './expect-decoded.ts'

describeReport('Snowplow Iglu webhooks', () => {
  test('are decoded as expected', () => {
    const requests = reportLines('12-snowplow-iglu-post.ndjson')
    const { lines } = expectedOf<{ lines: ExpectedLine[] }>('12-snowplow-iglu-post.expected.json')
    expect(requests).toHaveLength(lines.length)
    for (const [index, line] of lines.entries()) expectDecoded(requests[index] ?? { url: '', method: '' }, line)
  })
})
