import { junitReport } from './render-junit.ts'
import { markdownReport } from './render-markdown.ts'
import { textReport } from './render-text.ts'
import type { GateReport } from './report.ts'

/** Formats of a report, as named on the command line. */
export const REPORT_FORMATS = ['text', 'json', 'junit', 'markdown'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]

/** Returns the report in a format, with a line break at the end. */
export function renderReport(report: GateReport, format: ReportFormat): string {
  switch (format) {
    case 'text':
      return textReport(report)
    case 'json':
      return `${JSON.stringify(report, null, 2)}\n`
    case 'junit':
      return junitReport(report)
    case 'markdown':
      return markdownReport(report)
  }
}
