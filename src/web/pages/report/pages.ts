import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { SHOW_PARAM } from '../../charts/show-param.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { REPORT } from './week-param.ts'

export const reportPages = [
  page({
    path: PAGE_PATHS.report.week,
    menu: { title: () => messages.shell.pages.report, keys: 'g r' },
    search: { ...REPORT, ...SHOW_PARAM },
    view: lazyView(() => import('./report-page.tsx'), 'ReportPage'),
  }),
] as const
