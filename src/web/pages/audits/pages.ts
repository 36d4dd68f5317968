/** The pages of this folder are one file of script. */
export { AuditPage } from './audit-page.tsx'
export { AuditsPage } from './audits-page.tsx'
export { NewAuditPage } from './new-audit-page.tsx'
