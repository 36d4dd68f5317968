import type { WebFile } from '../../browser/web-file.ts'
import { messageOf } from '../../core/error.ts'
import { ALLOWS_ALL, ALLOWS_NONE, parseRobots, type Robots } from './robots.ts'

/** What a host asks, and why it could not be asked; null: it could. */
export interface HostRobots extends Robots {
  fault: string | null
}

/** The robots.txt of each host, read once. */
export class RobotsBook {
  private readonly known = new Map<string, Promise<HostRobots>>()

  /** `read`: null when they are not asked, and everything is allowed. */
  constructor(private readonly read: ((url: string) => Promise<Pick<WebFile, 'status' | 'body'>>) | null) {}

  of(address: string): Promise<HostRobots> {
    const { origin } = new URL(address)
    const known = this.known.get(origin) ?? this.ask(origin)
    this.known.set(origin, known)
    return known
  }

  /** A host that has none allows all, one that can't say it allows nothing: RFC 9309, section 2.3.1; 429 is no answer. */
  private async ask(origin: string): Promise<HostRobots> {
    if (this.read === null) return { ...ALLOWS_ALL, fault: null }
    try {
      const { status, body } = await this.read(`${origin}/robots.txt`)
      if (status >= 500 || status === 429) return { ...ALLOWS_NONE, fault: `it answered with status ${status}` }
      const robots = status >= 200 && status < 300 ? parseRobots(new TextDecoder().decode(body)) : ALLOWS_ALL
      return { ...robots, fault: null }
    } catch (error) {
      return { ...ALLOWS_NONE, fault: messageOf(error) }
    }
  }
}
