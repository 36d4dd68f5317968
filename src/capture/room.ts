import type { Base, Room } from '../base.ts'
import { noteLegacyScript } from '../domains/collect-hostname-store.ts'
import { routingOf } from '../domains/domain.ts'
import type { DomainDirectory } from '../domains/domain-directory.ts'
import { findDomain } from '../domains/store.ts'
import { scriptBundle } from './script-bundle.ts'
import { ScriptFiles } from './serve-capture-script.ts'
import { snippetRoutes } from './snippet-routes.ts'

export interface CaptureRoom extends Room {
  /** The scripts that browsers load. Each domain's script sends events to that domain's collection endpoint. */
  scripts: ScriptFiles
}

interface Deps {
  directory: DomainDirectory
  /** Called when a page loads a script from the earlier address. Default: records it. */
  askedAtLegacy?(domainId: string): void
}

export function openCapture(base: Base, { directory, askedAtLegacy }: Deps): CaptureRoom {
  const { db, clock, publicUrl, collectUrl } = base
  const addresses = { collectUrl, publicUrl }
  const legacyHost = new URL(publicUrl).host
  return {
    scripts: new ScriptFiles({
      clock,
      domains: directory,
      bundle: scriptBundle,
      collectUrlOf: ({ orgId, id }) => routingOf(findDomain(db, { orgId, id }, clock.now()), addresses).collectEndpoint,
      legacyHost: legacyHost === new URL(collectUrl).host ? null : legacyHost,
      askedAtLegacy: askedAtLegacy ?? ((domainId) => noteLegacyScript(db, domainId, clock.now())),
    }),
    routes: snippetRoutes({ db, clock, collectUrl, publicUrl, bundle: scriptBundle }),
  }
}
