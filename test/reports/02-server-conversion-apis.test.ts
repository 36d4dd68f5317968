import { expect, test } from 'bun:test'
import { describeReport, expectedOf, reportLines } from './bug-report.ts'
import { type ExpectedLine, expectDecoded } from './expect-decoded.ts'

describeReport('server-side conversion requests', () => {
  test('are decoded as expected', () => {
    const requests = reportLines('02-server-conversion-apis.ndjson')
    const { lines } = expectedOf<{ lines: ExpectedLine[] }>('02-server-conversion-apis.expected.json')
    expect(requests).toHaveLength(lines.length)
    for (const [index, line] of lines.entries()) expectDecoded(requests[index] ?? { url: '', method: '' }, line)
  })
})
