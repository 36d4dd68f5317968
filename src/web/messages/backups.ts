/** The page at `/settings/backups`, and the banner of a restored server. */
export const backups = {
  restrictedAction: 'Viewing and making backups',
  intro: 'A backup contains all data of this server and the key that decrypts its secrets.',
  guide: 'How to restore a backup',
  create: 'Back up now',
  started: 'Backup started.',
  scheduled: (cron: string, keep: number) => `Schedule: ${cron} (UTC). The last ${keep} backups are kept.`,
  unscheduled: 'No backups are scheduled. To schedule them, set TAGWARDEN_BACKUP_TO on the server.',
  place: 'Location',
  next: 'Next backup',
  last: 'Last backup',
  never: 'Never',
  states: {
    ok: null,
    none: null,
    stale: 'The last two scheduled backups are missing.',
    failed: 'The most recent backup failed.',
  },
  none: 'No backups yet.',
  columns: { started: 'Started', status: 'Status', duration: 'Duration', size: 'Size', added: 'New' },
  statuses: { running: 'Running', succeeded: 'Succeeded', failed: 'Failed' },
  download: 'Download',
  downloadOf: (time: string) => `Download the backup of ${time}`,
  quiet: {
    title: 'This server sends nothing',
    sentence: (reason: string) =>
      `Notifications, e-mails, flow tests, audits and scheduled backups are paused, because ${reason}. Events are still collected and evaluated.`,
    resume: 'Resume',
    question: 'Resume sending?',
    warning:
      'Resume only one of the copies of a data folder. Otherwise, people are notified twice. Notifications that are pending are sent immediately.',
    resumed: 'The server sends notifications again.',
    byOwner: 'An owner can resume it.',
  },
}
