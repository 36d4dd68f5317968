import type { KnownElement } from './element.ts'
import type { Recording } from './recording.ts'
import { titleOf } from './recording-title.ts'
import type { RunEvent, StepResult } from './run.ts'
import type { WalkMessage } from './walk-plan.ts'

/** The most events that are kept of a run. */
const MAX_EVENTS = 5000

/** What a walk told, as it comes. */
export class Walked {
  private readonly told = new Map<number, StepResult>()
  readonly events: RunEvent[] = []
  readonly elements: Record<number, KnownElement> = {}
  private end: Extract<WalkMessage, { kind: 'done' }> | null = null

  take(message: WalkMessage): void {
    if (message.kind === 'done') this.end = message
    else if (message.kind === 'event') {
      if (this.events.length < MAX_EVENTS) this.events.push(message.event)
    } else {
      const { step, element } = message
      this.told.set(step.index, step)
      if (element) this.elements[step.index] = element
    }
  }

  /** Null: the walk did not end by itself. */
  get pausedMs(): number | null {
    return this.end?.pausedMs ?? null
  }

  get errors(): readonly string[] {
    return this.end?.errors ?? []
  }

  /**
   * Returns what ended the walk early; null: every step was walked. `cause`: why its process ended before its time, null
   * when it did not.
   */
  errorOf(cause: string | null): string | null {
    if (this.end) return this.end.error
    return cause ?? 'the walk ended without saying why'
  }

  /** Returns all steps of the recording in order: those of which nothing was told were not come to. */
  stepsOf({ steps }: Recording): StepResult[] {
    return steps.map((step, index) => {
      const none = { startedAt: null, durationMs: null, error: null, healed: null, screenshot: false }
      return this.told.get(index) ?? { index, type: step.type, title: titleOf(step), status: 'skipped', ...none }
    })
  }
}
