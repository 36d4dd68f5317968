import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { messages } from '../../messages.ts'
import { lazyView, page } from '../page.ts'
import { AUDIT_LOG } from './audit-log-params.ts'
import { MEMBERS } from './members-params.ts'

const paths = PAGE_PATHS.settings

/** The menu entry of a settings page. */
const settingsMenu = (name: keyof typeof paths) => ({
  title: () => messages.settings.pages[name],
  keywords: () => messages.shell.settings,
})

export const settingsPages = [
  page({
    path: paths.organization,
    menu: settingsMenu('organization'),
    view: lazyView(() => import('./organization-page.tsx'), 'OrganizationPage'),
  }),
  page({
    path: paths.projects,
    menu: settingsMenu('projects'),
    view: lazyView(() => import('./projects-page.tsx'), 'ProjectsPage'),
  }),
  page({
    path: paths.maintenance,
    menu: settingsMenu('maintenance'),
    view: lazyView(() => import('./maintenance-page.tsx'), 'MaintenancePage'),
  }),
  page({
    path: paths.calendars,
    menu: settingsMenu('calendars'),
    view: lazyView(() => import('./calendars-page.tsx'), 'CalendarsPage'),
  }),
  page({
    path: paths.members,
    menu: settingsMenu('members'),
    search: MEMBERS,
    view: lazyView(() => import('./members-page.tsx'), 'MembersPage'),
  }),
  page({
    path: paths.ownership,
    menu: settingsMenu('ownership'),
    view: lazyView(() => import('./ownership-page.tsx'), 'OwnershipPage'),
  }),
  page({
    path: paths.keys,
    menu: settingsMenu('keys'),
    view: lazyView(() => import('./api-keys-page.tsx'), 'ApiKeysPage'),
  }),
  page({
    path: paths.digest,
    menu: settingsMenu('digest'),
    view: lazyView(() => import('./digest-page.tsx'), 'DigestPage'),
  }),
  page({
    path: paths.escalation,
    menu: settingsMenu('escalation'),
    view: lazyView(() => import('./escalation-page.tsx'), 'EscalationPage'),
  }),
  page({
    path: paths.usage,
    menu: settingsMenu('usage'),
    view: lazyView(() => import('./usage-page.tsx'), 'UsagePage'),
  }),
  page({
    path: paths.backups,
    menu: settingsMenu('backups'),
    view: lazyView(() => import('./backups-page.tsx'), 'BackupsPage'),
  }),
  page({
    path: paths.collectors,
    menu: settingsMenu('collectors'),
    view: lazyView(() => import('./collectors-page.tsx'), 'CollectorsPage'),
  }),
  page({
    path: paths['audit-log'],
    menu: settingsMenu('audit-log'),
    search: AUDIT_LOG,
    view: lazyView(() => import('./audit-log-page.tsx'), 'AuditLogPage'),
  }),
  page({
    path: paths.preferences,
    menu: settingsMenu('preferences'),
    view: lazyView(() => import('./preferences-page.tsx'), 'PreferencesPage'),
  }),
] as const
