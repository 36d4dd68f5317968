import type { Frame } from 'puppeteer-core'
import { secretHostOf } from '../secret-reach.ts'
import { StepFault } from './fault.ts'

/** Keeps the secrets that a step mentions from hosts to which they are not bound. */
export class SecretGuard {
  /** Why a frame was last refused; null: none was. */
  fault: string | null = null

  /** @param hosts that may get the secrets, as `secretHostOf` spells them; null: the step mentions none */
  constructor(private readonly hosts: readonly string[] | null) {}

  /** True when the frame may get the secrets. */
  admits(frame: Frame): boolean {
    this.fault = this.faultOf(addressOf(frame))
    return this.fault === null
  }

  /** Fails with a `StepFault` when the address may not get the secrets. */
  requireAddress(address: string): void {
    const fault = this.faultOf(address)
    if (fault !== null) throw new StepFault(fault)
  }

  private faultOf(address: string): string | null {
    if (this.hosts === null) return null
    const host = secretHostOf(address)
    if (host !== null && this.hosts.includes(host)) return null
    if (this.hosts.length === 0) {
      return 'the secrets of the step were entered for other expressions in waitForExpression: enter them again'
    }
    const place = host ?? 'a page without a host'
    return `the secrets of the step are not sent to ${place}, because they were entered for ${this.hosts.join(', ')}: add it to secretHosts and enter them again`
  }
}

/** The address of a frame's document; of one without an address of its own, such as `about:srcdoc`, that of the frame around it. */
function addressOf(frame: Frame): string {
  let at: Frame | null = frame
  while (at?.parentFrame() && (at.url() === '' || at.url().startsWith('about:'))) at = at.parentFrame()
  return at?.url() ?? ''
}
