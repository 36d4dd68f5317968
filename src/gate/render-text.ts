import { countText, oneLine } from '../core/text.ts'
import type { Check, GateFinding, GateReport } from './report.ts'

const MAX_LINE = 1000
const line = (text: string) => oneLine(text, MAX_LINE)
const counted = (count: number, one: string, many = `${one}s`) => `${countText(count)} ${count === 1 ? one : many}`

/** Summarizes a report in one line: `Failed: 2 problems. 14 checks of 37 events in 1 recording`. */
export function headlineOf({ status, findings, moreFindings, checks, recordings }: GateReport): string {
  const events = recordings.reduce((sum, one) => sum + one.events, 0)
  const made = checks.filter((check) => check.status !== 'skipped').length
  const outcome = status === 'passed' ? 'Passed' : `Failed: ${counted(findings.length + moreFindings, 'problem')}`
  const what =
    recordings.length === 0 ? '' : ` of ${counted(events, 'event')} in ${counted(recordings.length, 'recording')}`
  return `${outcome}. ${counted(made, 'check')}${what}`
}

/** Returns sentences about what limits the result. */
export function warningsOf({ recordings, unread, events }: GateReport): string[] {
  const total = recordings.reduce((sum, one) => sum + one.events, 0)
  return [
    ...(recordings.length > 0 && total === 0 && events.length === 0
      ? ['The recording contains no analytics events, so nothing was checked']
      : []),
    ...(unread.length > 0
      ? [`${counted(unread.length, 'request')} to vendors could not be read, because the body is missing or damaged`]
      : []),
  ]
}

/** Describes where the event of a finding is: `shop.har, entry 14, https://…/g/collect, page shop.example/thanks`. */
export function placeText({ evidence }: GateFinding): string | null {
  if (evidence === null) return null
  const { file, entry, url, page } = evidence
  return [file, `entry ${entry}`, url, page && `page ${page}`].filter(Boolean).join(', ')
}

/** Returns the report as plain text. */
export function textReport(report: GateReport): string {
  const { checks, findings, moreFindings, unread, name, ref, baseline } = report
  const lines = [
    line(
      `Release gate “${name}”${ref === null ? '' : ` for ${ref}`}${baseline === null ? '' : `, baseline ${baseline}`}`,
    ),
    '',
    ...checks.flatMap((check, index) =>
      checkLines(
        check,
        findings.filter((one) => one.check === index),
      ),
    ),
    ...(moreFindings > 0 ? [`  … and ${counted(moreFindings, 'further problem')}`] : []),
    ...unread.map(({ file, entry, host, reason }) => line(`  ! ${file}, entry ${entry}, ${host}: ${reason}`)),
    ...warningsOf(report).map((warning) => `  ! ${warning}`),
    '',
    headlineOf(report),
  ]
  return `${lines.join('\n')}\n`
}

function checkLines({ status, name, severity, reason, events }: Check, findings: readonly GateFinding[]): string[] {
  if (status === 'skipped') return [line(`  - ${name}: skipped. ${reason}`)]
  const unseen = status === 'passed' && events === 0 ? ' (no such event in the recording)' : ''
  return [
    line(`  ${status === 'passed' ? '✓' : '✗'} ${name}${severity === null ? '' : ` [${severity}]`}${unseen}`),
    ...findings.flatMap(findingLines),
  ]
}

function findingLines(finding: GateFinding): string[] {
  const { sentence, expected, observed, count, parameters } = finding
  const place = placeText(finding)
  const plain =
    expected === null ? [] : [`      expected ${expected}${observed === null ? '' : `, observed ${observed}`}`]
  const detailed = parameters.map(
    (one) => `      ${one.parameter}: expected ${one.expected}, observed ${observedText(one.observed)}`,
  )
  return [
    `    ${sentence}${count > 1 ? ` (${counted(count, 'event')})` : ''}`,
    ...(detailed.length > 0 ? detailed : plain),
    ...(place === null ? [] : [`      ${place}`]),
  ].map((text) => `${/^ */.exec(text)?.[0] ?? ''}${line(text)}`)
}

/** Returns an observed value in quotation marks. */
const observedText = (observed: string | null): string => (observed === null ? 'no value' : JSON.stringify(observed))
