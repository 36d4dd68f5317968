// Create Tagwarden once, in the app delegate, and send the queued events when the app goes to the background.

import UIKit

let tagwarden = Tagwarden(env: "prod", version: 881)

@main
final class ExampleApp: UIResponder, UIApplicationDelegate {
    private var task = UIBackgroundTaskIdentifier.invalid

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        // Apps with scenes receive this notification too, but not applicationDidEnterBackground.
        let name = UIApplication.didEnterBackgroundNotification
        _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) { _ in
            DispatchQueue.main.async { self.sendInBackground() }
        }
        return true
    }

    private func sendInBackground() {
        // iOS gives the app a few seconds to finish this task.
        task = UIApplication.shared.beginBackgroundTask { [weak self] in self?.endTask() }
        tagwarden.flush {
            DispatchQueue.main.async { self.endTask() }
        }
    }

    private func endTask() {
        if task == .invalid { return }
        UIApplication.shared.endBackgroundTask(task)
        task = .invalid
    }
}

/// Call it in a view controller to set the screen for the following events.
func paymentAppeared() {
    tagwarden.screen("app://shop.example/checkout/payment", title: "Payment")
}

/// Call it where the app sends the same event to a vendor's SDK.
func purchased(orderId: String, value: Double) {
    let params: [String: Any] = ["transaction_id": orderId, "value": value, "currency": "EUR"]
    tagwarden.track("Firebase", "purchase", params: params, fields: ["status": "ok"])
}
