import type { Base, Room } from '../base.ts'
import { oidcSettings } from '../config.ts'
import { pagePath } from '../contract/page-paths.ts'
import { Emitter } from '../core/emitter.ts'
import { operatorFetch } from '../transport/operator-fetch.ts'
import { directMail } from '../transport/send-mail-directly.ts'
import { type NewAuditEntry, writeAuditEntry } from './audit-log.ts'
import { authRoutes, resetRoutes } from './auth-routes.ts'
import { newSetupToken } from './first-setup.ts'
import { memberRoutes } from './member-routes.ts'
import { companySignIn, oidcRoutes } from './oidc-routes.ts'
import { type OrganizationRouteDeps, organizationRoutes } from './org-routes.ts'
import { orgRoutes } from './routes.ts'
import type { QueueSecurityMail } from './security-mail.ts'
import type { SessionRouteDeps } from './session-routes.ts'
import { signInLimits } from './sign-in.ts'
import { hasOwner } from './store.ts'

export interface OrgRoom extends Room {
  /** Secret URL for creating the first owner. Works once. Null when there is an owner. */
  setupUrl: string | null
  /** Emits the id of an organization whose settings have changed. */
  changed: Emitter<string>
  /** Emits the id of an organization that has been deleted. */
  deleted: Emitter<string>
}

/** Creates the module for sign-in, organizations, members and keys. */
export function openOrg(
  base: Base,
  {
    checkPiiPatterns,
    browserOf,
    queueMail,
  }: Pick<OrganizationRouteDeps, 'checkPiiPatterns'> &
    Pick<SessionRouteDeps, 'browserOf'> & { queueMail: QueueSecurityMail },
): OrgRoom {
  const { db, box, clock, config, publicUrl, transport, report } = base
  const { warn } = base.log
  const limits = signInLimits(clock, config.rateSigninPerMinute)
  const audit = (entry: NewAuditEntry) => writeAuditEntry(db, clock, entry)
  const settings = oidcSettings(config)
  const request = operatorFetch({ proxy: config.outboundProxy, ca: config.outboundCa })
  const company = settings && companySignIn(settings, { clock, warn, request })
  const mail = config.smtpUrl === '' ? null : directMail({ transport, warn })
  const queueSecurityMail = config.smtpUrl === '' ? null : queueMail
  const setup = hasOwner(db) ? null : newSetupToken()
  const changed = new Emitter<string>()
  const deleted = new Emitter<string>()
  const common = { db, box, clock, publicUrl, report, limits, audit, mail, queueSecurityMail }
  return {
    setupUrl: setup && publicUrl + pagePath.setup(setup.secret),
    changed,
    deleted,
    routes: [
      ...authRoutes({
        ...common,
        browserOf,
        setupToken: setup?.token ?? null,
        oidc: () => (company ? { name: company.settings.name } : null),
      }),
      ...resetRoutes(common),
      ...oidcRoutes({ ...common, company }),
      ...orgRoutes(common),
      ...organizationRoutes({
        ...common,
        checkPiiPatterns,
        changed: (orgId) => changed.emit(orgId),
        deleted: (orgId) => deleted.emit(orgId),
      }),
      ...memberRoutes(common),
    ],
  }
}
