/** The pages of this folder are bundled as one chunk. */
export { AuditPage } from './audit-page.tsx'
export { AuditsPage } from './audits-page.tsx'
export { NewAuditPage } from './new-audit-page.tsx'
