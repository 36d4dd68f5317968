import { expect, test } from 'bun:test'
import { describeReport, expectedOf, reportLines } from './bug-report.ts'
import { type ExpectedLine, expectDecoded } from './expect-decoded.ts'

describeReport('Google Analytics 4 under a renamed path', () => {
  test('is recognised in GET and POST requests', () => {
    const requests = reportLines('14-ga4-renamed-path.ndjson')
    const { lines } = expectedOf<{ lines: ExpectedLine[] }>('14-ga4-renamed-path.expected.json')
    expect(requests).toHaveLength(lines.length)
    for (const [index, line] of lines.entries()) expectDecoded(requests[index] ?? { url: '', method: '' }, line)
  })
})
