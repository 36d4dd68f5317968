import type { Dialog, HTTPResponse, Page, Target } from 'puppeteer-core'
import type { Browsing } from '../../browser/browsing.ts'

/** Maximum number of dialogs recorded, because a page may open an unlimited number. */
const MAX_NOTES = 20

/** Response to the most recent request for a tab's document. */
export interface DocumentAnswer {
  url: string
  status: number
  statusText: string
}

/** Tracks every tab of a browser. Closes dialogs and records the responses for documents. */
export class Tabs implements Disposable {
  /** Descriptions of the dialogs that pages opened, and how the dialogs were closed. */
  readonly notes: string[] = []
  private readonly answers = new Map<Page, DocumentAnswer>()
  private readonly watched = new WeakSet<Page>()
  private readonly onTarget = (target: Target) => {
    if (target.type() !== 'page') return
    target.page().then(
      (page) => page && this.watch(page),
      () => {},
    )
  }

  constructor(
    private readonly browsing: Browsing,
    private readonly onCrash: () => void,
  ) {
    for (const page of browsing.tabs()) this.watch(page)
    browsing.browser.on('targetcreated', this.onTarget)
  }

  /** Returns the response for the tab's document; null when there has been none since `forgetAnswer` was called. */
  answerOf(page: Page): DocumentAnswer | null {
    return this.answers.get(page) ?? null
  }

  forgetAnswers(): void {
    this.answers.clear()
  }

  [Symbol.dispose](): void {
    this.browsing.browser.off('targetcreated', this.onTarget)
  }

  private watch(page: Page): void {
    if (this.watched.has(page)) return
    this.watched.add(page)
    page.on('dialog', (dialog) => this.answer(dialog))
    page.on('error', this.onCrash)
    page.on('response', (response) => this.note(page, response))
  }

  private note(page: Page, response: HTTPResponse): void {
    const request = response.request()
    if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return
    // Redirects are ignored, because the final response follows.
    if (response.status() >= 300 && response.status() < 400) return
    this.answers.set(page, { url: response.url(), status: response.status(), statusText: response.statusText() })
  }

  private answer(dialog: Dialog): void {
    const { asked, answer } = DIALOGS[dialog.type()]
    if (this.notes.length < MAX_NOTES && dialog.type() !== 'beforeunload') {
      this.notes.push(
        this.browsing.mask(
          `The page ${asked} “${dialog.message().slice(0, 200)}”; the dialog was answered with ${answer}`,
        ),
      )
    }
    dialog.accept(dialog.type() === 'prompt' ? dialog.defaultValue() : undefined).catch(() => {})
  }
}

const DIALOGS: Readonly<Record<ReturnType<Dialog['type']>, { asked: string; answer: string }>> = {
  alert: { asked: 'said', answer: 'OK' },
  confirm: { asked: 'asked', answer: 'OK' },
  prompt: { asked: 'asked for text:', answer: 'its default value' },
  beforeunload: { asked: 'asked whether to leave', answer: 'yes' },
}
