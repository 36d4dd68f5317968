// Create Tagwarden once, in the app delegate, and send what is queued when the app goes to the background.

import UIKit

let tagwarden = Tagwarden(env: "prod", version: 881)

@main
final class ExampleApp: UIResponder, UIApplicationDelegate {
    private var task = UIBackgroundTaskIdentifier.invalid

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
    ) -> Bool {
        // Apps with scenes get this notification too, but no applicationDidEnterBackground.
        let name = UIApplication.didEnterBackgroundNotification
        _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) { _ in
            DispatchQueue.main.async { self.sendInBackground() }
        }
        return true
    }

    private func sendInBackground() {
        // iOS gives the app some seconds for it.
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

/// In a view controller: the screen of the events that follow.
func paymentAppeared() {
    tagwarden.screen("app://shop.example/checkout/payment", title: "Payment")
}

/// Call it where the app tells a vendor's SDK the same.
func purchased(orderId: String, value: Double) {
    let params: [String: Any] = ["transaction_id": orderId, "value": value, "currency": "EUR"]
    tagwarden.track("Firebase", "purchase", params: params, fields: ["status": "ok"])
}
