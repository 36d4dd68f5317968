/** The pages of this folder are bundled as one chunk. */

export { ApiKeysPage } from './api-keys-page.tsx'
export { AuditLogPage } from './audit-log-page.tsx'
export { CalendarsPage } from './calendars-page.tsx'
export { DigestPage } from './digest-page.tsx'
export { EscalationPage } from './escalation-page.tsx'
export { MaintenancePage } from './maintenance-page.tsx'
export { MembersPage } from './members-page.tsx'
export { OrganizationPage } from './organization-page.tsx'
export { OwnershipPage } from './ownership-page.tsx'
export { PreferencesPage } from './preferences-page.tsx'
export { ProjectsPage } from './projects-page.tsx'
export { UsagePage } from './usage-page.tsx'
