import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { messages } from '../../messages.ts'
import { lazyViews, page } from '../page.ts'
import { AUDIT_LOG } from './audit-log-params.ts'
import { MEMBERS } from './members-params.ts'

const paths = PAGE_PATHS.settings
const view = lazyViews(() => import('./views.ts'))

/** The menu entry of a settings page. */
const settingsMenu = (name: keyof typeof paths) => ({
  title: () => messages.settings.pages[name],
  keywords: () => messages.shell.settings,
})

export const settingsPages = [
  page({ path: paths.organization, menu: settingsMenu('organization'), view: view('OrganizationPage') }),
  page({ path: paths.projects, menu: settingsMenu('projects'), view: view('ProjectsPage') }),
  page({ path: paths.maintenance, menu: settingsMenu('maintenance'), view: view('MaintenancePage') }),
  page({ path: paths.calendars, menu: settingsMenu('calendars'), view: view('CalendarsPage') }),
  page({ path: paths.members, menu: settingsMenu('members'), search: MEMBERS, view: view('MembersPage') }),
  page({ path: paths.ownership, menu: settingsMenu('ownership'), view: view('OwnershipPage') }),
  page({ path: paths.keys, menu: settingsMenu('keys'), view: view('ApiKeysPage') }),
  page({ path: paths.digest, menu: settingsMenu('digest'), view: view('DigestPage') }),
  page({ path: paths.escalation, menu: settingsMenu('escalation'), view: view('EscalationPage') }),
  page({ path: paths.usage, menu: settingsMenu('usage'), view: view('UsagePage') }),
  page({ path: paths.backups, menu: settingsMenu('backups'), view: view('BackupsPage') }),
  page({ path: paths.collectors, menu: settingsMenu('collectors'), view: view('CollectorsPage') }),
  page({ path: paths['audit-log'], menu: settingsMenu('audit-log'), search: AUDIT_LOG, view: view('AuditLogPage') }),
  page({ path: paths.preferences, menu: settingsMenu('preferences'), view: view('PreferencesPage') }),
] as const
